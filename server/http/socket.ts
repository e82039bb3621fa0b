import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { SESSION_ID } from '../wire/ids.ts'
import { COMMANDS, type CommandName } from '../wire/commands.ts'
import { CoreError, toWireError } from '../wire/errors.ts'
import { PING_MS, PROTOCOL, type ServerFrame } from '../wire/protocol.ts'
import { never } from '../wire/never.ts'
import type { Commands } from './commands.ts'
import type { Hub } from './hub.ts'
import type { LiveTab } from './shell-commands.ts'
import { tooMany, type Limits } from './limits.ts'

/** A tab with more bytes waiting than this is dropped to snapshot mode; it resumes once almost all have left. */
const CONGESTED_BYTES = 2 * 1024 * 1024
const DRAINED_BYTES = 64 * 1024
/** Close code 'try again later' of RFC 6455's registry. */
const TRY_LATER = 1013

const Frame = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('command'), id: z.string().min(1).max(64), name: z.string(), args: z.unknown() }),
  z.strictObject({ t: z.literal('attach'), session: z.string().regex(SESSION_ID), after: z.int().min(-1).optional() }),
  z.strictObject({ t: z.literal('detach'), session: z.string().regex(SESSION_ID) }),
  z.strictObject({ t: z.literal('pong') }),
])

/** One tab: its socket, what it shows, and how much it lags behind. */
export class Tab implements LiveTab {
  readonly #socket: WebSocket
  #drained: (() => void)[] = []
  readonly #ends: (() => void)[] = []
  #closed = false
  heard = true
  /** Commands without an answer so far. */
  pending = 0
  /** Sessions that this tab follows. */
  readonly attached = new Set<string>()

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  get congested(): boolean {
    return this.#socket.bufferedAmount > CONGESTED_BYTES
  }

  send(frame: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(frame, () => this.#sent())
  }

  frame(frame: ServerFrame): void {
    this.send(JSON.stringify(frame))
  }

  onDrained(resume: () => void): void {
    this.#drained.push(resume)
  }

  get closed(): boolean {
    return this.#closed
  }

  onClosed(effect: () => void): void {
    this.#ends.push(effect)
  }

  /** The socket is gone. */
  end(): void {
    this.#closed = true
    for (const effect of this.#ends.splice(0)) effect()
  }

  #sent(): void {
    if (this.#drained.length === 0 || this.#socket.bufferedAmount > DRAINED_BYTES) return
    const resume = this.#drained
    this.#drained = []
    for (const next of resume) next()
  }
}

export interface SocketOptions {
  hub: Hub
  commands: Commands
  limits: Pick<Limits, 'tabs' | 'pending' | 'attached'>
  report(error: unknown): void
}

/** The one socket of a tab. The fence has already let it in. */
export function installSocket(app: FastifyInstance, options: SocketOptions): void {
  const { hub, commands, limits } = options
  let tabs = 0
  app.get('/api/socket', { websocket: true, schema: { hide: true } }, (socket) => {
    if (tabs >= limits.tabs) return socket.close(TRY_LATER, `${limits.tabs} tabs are open already. Close some.`)
    tabs++
    const tab = new Tab(socket)
    hub.open(tab)
    tab.frame({ t: 'hello', protocol: PROTOCOL, pingMs: PING_MS, ...commands.global() })
    const ping = setInterval(() => {
      if (!tab.heard) return socket.terminate()
      tab.heard = false
      tab.frame({ t: 'ping' })
    }, PING_MS)
    ping.unref()
    socket.on('message', (data: Buffer) => {
      tab.heard = true
      // Whoever does not read the answers is not listened to: they would heap up.
      if (tab.congested) {
        socket.pause()
        tab.onDrained(() => socket.resume())
      }
      void receive(tab, data.toString('utf8'), options)
    })
    socket.on('close', () => {
      tabs--
      clearInterval(ping)
      hub.closed(tab)
      tab.end()
    })
    // The close event that follows does the work; without a listener the process would end.
    socket.on('error', () => {})
  })
}

async function receive(tab: Tab, text: string, options: SocketOptions): Promise<void> {
  const { hub, limits } = options
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return tab.frame({ t: 'error', id: '', error: { code: 'gateway/bad-request', message: 'A frame was not JSON.' } })
  }
  const parsed = Frame.safeParse(json)
  if (!parsed.success) {
    const id = typeof json === 'object' && json !== null && 'id' in json ? String(json.id).slice(0, 64) : ''
    return tab.frame({ t: 'error', id, error: { code: 'gateway/bad-request', message: z.prettifyError(parsed.error) } })
  }
  const frame = parsed.data
  switch (frame.t) {
    case 'pong':
      return
    case 'detach':
      tab.attached.delete(frame.session)
      return hub.detach(tab, frame.session)
    case 'attach':
      if (tab.attached.size >= limits.attached && !tab.attached.has(frame.session))
        return tab.frame({ t: 'attach-failed', session: frame.session, error: toWireError(tooManyAttached(limits)) })
      tab.attached.add(frame.session)
      await hub.attach(tab, frame.session, frame.after)
      if (!hub.shows(tab, frame.session)) tab.attached.delete(frame.session)
      return
    case 'command':
      return command(tab, frame, options)
    default:
      return never(frame)
  }
}

async function command(
  tab: Tab,
  frame: { id: string; name: string; args?: unknown },
  { commands, limits, report }: SocketOptions,
): Promise<void> {
  tab.pending++
  try {
    if (tab.pending > limits.pending)
      throw tooMany(`${limits.pending} commands of this tab wait for their answers. Wait for some of them first.`)
    if (!Object.hasOwn(COMMANDS, frame.name))
      throw new CoreError(
        'gateway/bad-request',
        `There is no command "${frame.name}". Reload the page: it may be older than the server.`,
      )
    const name = frame.name as CommandName
    const result = await commands.run(frame.id, name, frame.args, tab)
    tab.frame({ t: 'ack', id: frame.id, name, result } as ServerFrame)
  } catch (error) {
    if (!(error instanceof CoreError)) report(error)
    tab.frame({ t: 'error', id: frame.id, error: toWireError(error) })
  } finally {
    tab.pending--
  }
}

const tooManyAttached = ({ attached }: Pick<Limits, 'attached'>) =>
  tooMany(`This tab follows ${attached} sessions already. Leave some of them first.`)
