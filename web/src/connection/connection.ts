import type { CommandArgs, CommandName, CommandResults } from '../../../server/wire/commands.ts'
import type { WireError } from '../../../server/wire/errors.ts'
import { newId } from '../../../server/wire/ids.ts'
import type { ClientFrame, ServerFrame } from '../../../server/wire/protocol.ts'

/** The part of a browser's WebSocket that the connection uses. */
export interface Socket {
  send(text: string): void
  close(): void
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: unknown) => void) | null
}

export interface Clock {
  now(): number
  /** Calls back once after `ms`; the return value cancels. */
  after(ms: number, call: () => void): () => void
}

export type Status =
  | { kind: 'connecting'; since: number }
  | { kind: 'open' }
  /** `lastHeard`: ms since the epoch of the last frame; `failures`: attempts since then. */
  | { kind: 'lost'; since: number; lastHeard: number; failures: number }

export type Outcome<N extends CommandName> = { ok: true; result: CommandResults[N] } | { ok: false; error: WireError }

export interface Pending {
  id: string
  name: CommandName
  args: unknown
  /** False while it waits for a connection: only then it can still be taken back. */
  sent: boolean
}

export interface Options {
  open(): Socket
  clock: Clock
  /** Every frame except `ping`, `ack` and `error`, in order. */
  onFrame(frame: ServerFrame): void
  onStatus(status: Status): void
  onPending(pending: Pending[]): void
  /** Seq of the last event held of a session; -1 asks for a snapshot. Read again at each reconnect (B58). */
  lastSeq(session: string): number
  id?(): string
}

/** A socket that says nothing at all for this long before its hello is given up. */
const HELLO_MS = 10_000
const RETRY_MS = [250, 500, 1000, 2000, 4000, 5000]

type Entry = Pending & { settle(outcome: Outcome<CommandName>): void }

/**
 * One socket with its reconnects. Commands keep their id until they are answered and are sent again, in order, after each
 * reconnect; the server answers a repeated id without doing the work twice. Attached sessions are attached again from the
 * last event held. Nothing identifies the tab: what one tab looks at cannot disturb another (B65).
 */
export class Connection {
  readonly #options: Options
  readonly #entries = new Map<string, Entry>()
  readonly #attached = new Set<string>()
  #socket: Socket | undefined
  #ready = false
  #closed = false
  #failures = 0
  #lostSince: number | undefined
  #lastHeard: number
  #deadlineMs = HELLO_MS
  #cancelDeadline: (() => void) | undefined
  #cancelRetry: (() => void) | undefined

  constructor(options: Options) {
    this.#options = options
    this.#lastHeard = options.clock.now()
    options.onStatus({ kind: 'connecting', since: this.#lastHeard })
    this.#connect()
  }

  command<N extends CommandName>(name: N, args: CommandArgs<N>): Promise<Outcome<N>> {
    const id = this.#options.id?.() ?? newId()
    return new Promise((resolve) => {
      const settle = resolve as Entry['settle']
      const entry: Entry = { id, name, args, sent: false, settle }
      this.#entries.set(id, entry)
      if (this.#ready) this.#dispatch(entry)
      this.#announce()
    })
  }

  /** Takes back a command that was never sent; false when it may have reached the server. */
  withdraw(id: string): boolean {
    const entry = this.#entries.get(id)
    if (!entry || entry.sent) return false
    this.#entries.delete(id)
    this.#announce()
    entry.settle({ ok: false, error: { code: 'gateway/cancelled', message: 'Taken back before it was sent.' } })
    return true
  }

  attach(session: string): void {
    this.#attached.add(session)
    if (this.#ready) this.#sendAttach(session)
  }

  detach(session: string): void {
    this.#attached.delete(session)
    if (this.#ready) this.#send({ t: 'detach', session })
  }

  /** Tries at once instead of at the end of the current wait. */
  retryNow(): void {
    if (this.#socket || this.#closed) return
    this.#cancelRetry?.()
    this.#connect()
  }

  close(): void {
    this.#closed = true
    this.#cancelRetry?.()
    this.#drop()
  }

  #connect(): void {
    const socket = this.#options.open()
    this.#socket = socket
    socket.onmessage = (event) => {
      if (this.#socket === socket) this.#receive(String(event.data))
    }
    socket.onclose = () => {
      if (this.#socket === socket) this.#lose()
    }
    this.#watch(HELLO_MS)
  }

  #receive(text: string): void {
    this.#lastHeard = this.#options.clock.now()
    const frame = JSON.parse(text) as ServerFrame
    if (frame.t === 'hello') this.#deadlineMs = 3 * frame.pingMs
    this.#watch(this.#deadlineMs)
    switch (frame.t) {
      case 'ping':
        return this.#send({ t: 'pong' })
      case 'ack':
        return this.#settle(frame.id, { ok: true, result: frame.result })
      case 'error':
        return this.#settle(frame.id, { ok: false, error: frame.error })
      case 'hello':
        this.#options.onFrame(frame)
        return this.#resume()
      default:
        return this.#options.onFrame(frame)
    }
  }

  #resume(): void {
    this.#ready = true
    this.#failures = 0
    this.#lostSince = undefined
    this.#options.onStatus({ kind: 'open' })
    for (const session of this.#attached) this.#sendAttach(session)
    for (const entry of this.#entries.values()) this.#dispatch(entry)
    this.#announce()
  }

  #sendAttach(session: string): void {
    const after = this.#options.lastSeq(session)
    this.#send(after < 0 ? { t: 'attach', session } : { t: 'attach', session, after })
  }

  #dispatch(entry: Entry): void {
    entry.sent = true
    this.#send({ t: 'command', id: entry.id, name: entry.name, args: entry.args } as ClientFrame)
  }

  #settle(id: string, outcome: Outcome<CommandName>): void {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#entries.delete(id)
    this.#announce()
    entry.settle(outcome)
  }

  #send(frame: ClientFrame): void {
    this.#socket?.send(JSON.stringify(frame))
  }

  #announce(): void {
    this.#options.onPending(
      Array.from(this.#entries.values(), ({ id, name, args, sent }) => ({ id, name, args, sent })),
    )
  }

  #watch(ms: number): void {
    this.#cancelDeadline?.()
    this.#cancelDeadline = this.#options.clock.after(ms, () => this.#lose())
  }

  #drop(): void {
    const socket = this.#socket
    this.#socket = undefined
    this.#ready = false
    this.#cancelDeadline?.()
    if (!socket) return
    socket.onmessage = null
    socket.onclose = null
    socket.close()
  }

  #lose(): void {
    this.#drop()
    if (this.#closed) return
    const now = this.#options.clock.now()
    this.#lostSince ??= now
    this.#failures += 1
    const { onStatus, clock } = this.#options
    onStatus({ kind: 'lost', since: this.#lostSince, lastHeard: this.#lastHeard, failures: this.#failures })
    this.#deadlineMs = HELLO_MS
    const wait = RETRY_MS[Math.min(this.#failures, RETRY_MS.length) - 1] ?? 5000
    this.#cancelRetry = clock.after(wait, () => this.#connect())
  }
}
