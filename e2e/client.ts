import { randomUUID } from 'node:crypto'
import { WebSocket } from 'ws'
import type { CommandArgs, CommandName, CommandResults } from '../server/wire/commands.ts'
import type { WireError } from '../server/wire/errors.ts'
import type { EventType, LogEvent } from '../server/wire/events.ts'
import type { ClientFrame, ServerFrame } from '../server/wire/protocol.ts'

type Frame<T extends ServerFrame['t']> = Extract<ServerFrame, { t: T }>

/** A refused command as the wire told it. */
export class Refused extends Error {
  readonly code: string
  readonly details: WireError['details']
  constructor(error: WireError) {
    super(`${error.code}: ${error.message}`)
    this.code = error.code
    this.details = error.details
  }
}

/** A tab without a page: speaks the socket protocol and waits for frames, never for time. */
export class Client {
  readonly frames: ServerFrame[] = []
  /** False for a tab that has died without closing its socket. */
  answersPings = true
  readonly #socket: WebSocket
  readonly #waiting = new Set<() => void>()
  /** Two tabs never share a command id: the server answers a known one from memory. */
  readonly #tab = randomUUID().slice(0, 8)
  #ids = 0
  #closed = false

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as ServerFrame
      this.frames.push(frame)
      if (frame.t === 'ping' && this.answersPings) this.send({ t: 'pong' })
      for (const look of this.#waiting) look()
    })
    socket.on('close', () => {
      this.#closed = true
      for (const look of this.#waiting) look()
    })
    socket.on('error', () => {
      // The close event that follows ends every wait.
    })
  }

  /** `url` as the server prints it, token in the fragment. */
  static async connect(url: string): Promise<Client> {
    const { token, base } = addressOf(url)
    const socket = new WebSocket(
      `${base.replace('http', 'ws')}api/socket`,
      token ? ['core-web', `bearer.${token}`] : ['core-web'],
    )
    const client = new Client(socket)
    await client.frame('hello')
    return client
  }

  get bytesReceived(): number {
    return this.frames.reduce((sum, frame) => sum + JSON.stringify(frame).length, 0)
  }

  send(frame: ClientFrame): void {
    this.#socket.send(JSON.stringify(frame))
  }

  sendRaw(text: string): void {
    this.#socket.send(text)
  }

  async command<N extends CommandName>(
    name: N,
    args: CommandArgs<N>,
    id = `${this.#tab}-${++this.#ids}`,
  ): Promise<CommandResults[N]> {
    const from = this.frames.length
    this.send({ t: 'command', id, name, args } as ClientFrame)
    const answer = await this.until((frame) => (frame.t === 'ack' || frame.t === 'error') && frame.id === id, from)
    if (answer.t === 'error') throw new Refused(answer.error)
    return (answer as Frame<'ack'>).result as CommandResults[N]
  }

  async attach(session: string, after?: number): Promise<Frame<'snapshot'> | Frame<'attached'>> {
    const from = this.frames.length
    this.send({ t: 'attach', session, ...(after !== undefined && { after }) })
    const answer = await this.until(
      (frame) =>
        (frame.t === 'snapshot' || frame.t === 'attached' || frame.t === 'attach-failed') && frame.session === session,
      from,
    )
    if (answer.t === 'attach-failed') throw new Refused(answer.error)
    return answer as Frame<'snapshot'>
  }

  /** The first frame from index `from` on that satisfies `wanted`, waiting for it when it has not come yet. */
  until(wanted: (frame: ServerFrame) => boolean, from = 0, timeoutMs = 30_000): Promise<ServerFrame> {
    let at = from
    return new Promise((resolve, reject) => {
      const finish = (act: () => void) => {
        this.#waiting.delete(look)
        clearTimeout(timer)
        act()
      }
      const look = () => {
        for (; at < this.frames.length; at++) {
          const frame = this.frames[at]!
          if (wanted(frame)) return finish(() => resolve(frame))
        }
        if (this.#closed) finish(() => reject(new Error('the socket closed before the awaited frame')))
      }
      const timer = setTimeout(
        () =>
          finish(() =>
            reject(
              new Error(`no such frame in ${timeoutMs} ms; last: ${JSON.stringify(this.frames.at(-1)).slice(0, 400)}`),
            ),
          ),
        timeoutMs,
      )
      this.#waiting.add(look)
      look()
    })
  }

  async frame<T extends ServerFrame['t']>(type: T, from = 0): Promise<Frame<T>> {
    return (await this.until((frame) => frame.t === type, from)) as Frame<T>
  }

  /** All events of a session that this client has seen, by seq. */
  events(session: string): LogEvent[] {
    const seen = new Map<number, LogEvent>()
    for (const frame of this.frames)
      if ((frame.t === 'events' || frame.t === 'snapshot' || frame.t === 'attached') && frame.session === session)
        for (const event of frame.events) seen.set(event.seq, event)
    return [...seen.values()].sort((a, b) => a.seq - b.seq)
  }

  /** Waits for an event of an attached session. */
  async event<T extends EventType>(
    session: string,
    type: T,
    wanted: (event: LogEvent<T>) => boolean = () => true,
  ): Promise<LogEvent<T>> {
    const find = () =>
      this.events(session).find((event) => event.type === type && wanted(event as unknown as LogEvent<T>))
    await this.until(() => find() !== undefined)
    return find() as unknown as LogEvent<T>
  }

  turnEnd(session: string, turn: number): Promise<LogEvent<'turn/end'>> {
    return this.event(session, 'turn/end', (event) => event.data.turn === turn)
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()))
    this.#socket.close()
    return closed
  }
}

export function addressOf(url: string): { base: string; token: string | undefined } {
  const parsed = new URL(url)
  const token = parsed.hash.startsWith('#token=') ? parsed.hash.slice(7) : undefined
  parsed.hash = ''
  return { base: parsed.href, token }
}
