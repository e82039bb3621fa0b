import { expect, test } from 'vitest'
import type { ServerFrame } from '../../../server/wire/protocol.ts'
import { Connection } from './connection.ts'
import type { Clock, Pending, Socket, Status } from './connection.ts'

class FakeSocket implements Socket {
  sent: { t: string; id?: string; name?: string; session?: string; after?: number }[] = []
  closed = false
  onmessage: Socket['onmessage'] = null
  onclose: Socket['onclose'] = null
  send(text: string) {
    if (this.closed) throw new Error('socket is closed')
    this.sent.push(JSON.parse(text))
  }
  close() {
    this.closed = true
  }
  say(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }
  hello(pingMs = 1000) {
    this.say({ t: 'hello', protocol: 1, pingMs })
  }
  break() {
    this.closed = true
    this.onclose?.({})
  }
}

function fakeClock() {
  let now = 0
  let timers: { at: number; call: () => void }[] = []
  const clock: Clock = {
    now: () => now,
    after(ms, call) {
      const timer = { at: now + ms, call }
      timers.push(timer)
      return () => (timers = timers.filter((other) => other !== timer))
    },
  }
  const advance = (ms: number) => {
    const end = now + ms
    for (;;) {
      const due = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      timers = timers.filter((timer) => timer !== due)
      now = due.at
      due.call()
    }
    now = end
  }
  return { clock, advance }
}

function setup() {
  const sockets: FakeSocket[] = []
  const frames: ServerFrame[] = []
  const seqs = new Map<string, number>()
  let status: Status | undefined
  let pending: Pending[] = []
  let ids = 0
  const { clock, advance } = fakeClock()
  const connection = new Connection({
    open() {
      const socket = new FakeSocket()
      sockets.push(socket)
      return socket
    },
    clock,
    onFrame: (frame) => frames.push(frame),
    onStatus: (next) => (status = next),
    onPending: (next) => (pending = next),
    lastSeq: (session) => seqs.get(session) ?? -1,
    id: () => `c${++ids}`,
  })
  const latest = () => sockets.at(-1)!
  return { connection, sockets, latest, frames, seqs, advance, status: () => status, pending: () => pending }
}

const commandsOf = (socket: FakeSocket) => socket.sent.filter((frame) => frame.t === 'command').map((frame) => frame.id)

test('B58 after a drop each attached session is asked for from the last event held', () => {
  const it = setup()
  it.latest().hello()
  it.connection.attach('a')
  it.connection.attach('b')
  expect(it.latest().sent).toEqual([
    { t: 'attach', session: 'a' },
    { t: 'attach', session: 'b' },
  ])
  it.seqs.set('a', 41)
  it.latest().break()
  it.advance(250)
  it.latest().hello()
  expect(it.latest().sent).toEqual([
    { t: 'attach', session: 'a', after: 41 },
    { t: 'attach', session: 'b' },
  ])
})

test('a session that was left is not attached again', () => {
  const it = setup()
  it.latest().hello()
  it.connection.attach('a')
  it.connection.detach('a')
  it.latest().break()
  it.advance(250)
  it.latest().hello()
  expect(it.latest().sent).toEqual([])
})

test('B59 the deadline is three pings of the server, and a ping is answered', () => {
  const it = setup()
  it.latest().hello(1000)
  it.advance(2000)
  it.latest().say({ t: 'ping' })
  expect(it.latest().sent).toEqual([{ t: 'pong' }])
  it.advance(2999)
  expect(it.status()).toEqual({ kind: 'open' })
  it.advance(1)
  expect(it.status()).toMatchObject({ kind: 'lost', since: 5000, lastHeard: 2000 })
  expect(it.sockets[0]!.closed).toBe(true)
})

test('an idle connection with a ping every period never churns', () => {
  const it = setup()
  it.latest().hello(1000)
  for (let beat = 0; beat < 60; beat++) {
    it.advance(1000)
    it.latest().say({ t: 'ping' })
  }
  expect(it.sockets).toHaveLength(1)
})

test('a command is resent under its id after a reconnect and settles once', async () => {
  const it = setup()
  it.latest().hello()
  const answer = it.connection.command('session.stop', { session: 's' })
  expect(commandsOf(it.latest())).toEqual(['c1'])
  it.latest().break()
  it.advance(250)
  it.latest().hello()
  expect(commandsOf(it.latest())).toEqual(['c1'])
  it.latest().say({ t: 'ack', id: 'c1', name: 'session.stop', result: { stopped: true } })
  it.latest().say({ t: 'error', id: 'c1', error: { code: 'gateway/internal', message: 'late' } })
  expect(await answer).toEqual({ ok: true, result: { stopped: true } })
  it.latest().break()
  it.advance(250)
  it.latest().hello()
  expect(commandsOf(it.latest())).toEqual([])
})

test('commands given offline are sent once, in order, when the server answers again', () => {
  const it = setup()
  it.latest().hello()
  void it.connection.command('session.prompt', { session: 's', text: 'one' })
  it.latest().break()
  void it.connection.command('session.prompt', { session: 's', text: 'two' })
  void it.connection.command('session.prompt', { session: 's', text: 'three' })
  expect(it.pending().map((entry) => entry.sent)).toEqual([true, false, false])
  it.advance(250)
  expect(commandsOf(it.latest())).toEqual([])
  it.latest().hello()
  expect(commandsOf(it.latest())).toEqual(['c1', 'c2', 'c3'])
})

test('an unsent command can be taken back, a sent one cannot', async () => {
  const it = setup()
  it.latest().hello()
  void it.connection.command('session.prompt', { session: 's', text: 'one' })
  it.latest().break()
  const second = it.connection.command('session.prompt', { session: 's', text: 'two' })
  expect(it.connection.withdraw('c1')).toBe(false)
  expect(it.connection.withdraw('c2')).toBe(true)
  expect(await second).toMatchObject({ ok: false, error: { code: 'gateway/cancelled' } })
  it.advance(250)
  it.latest().hello()
  expect(commandsOf(it.latest())).toEqual(['c1'])
})

test('a rejected command keeps the code and message of the server', async () => {
  const it = setup()
  it.latest().hello()
  const answer = it.connection.command('session.delete', { session: 's' })
  it.latest().say({ t: 'error', id: 'c1', error: { code: 'session/agent-busy', message: 'Stop it first.' } })
  expect(await answer).toEqual({ ok: false, error: { code: 'session/agent-busy', message: 'Stop it first.' } })
})

test('B65 hopping between sessions sends nothing but attach and detach', () => {
  const it = setup()
  it.latest().hello()
  for (let hop = 0; hop < 10; hop++) {
    const here = hop % 2 ? 'a' : 'b'
    it.connection.attach(here)
    it.connection.detach(here)
  }
  expect(new Set(it.latest().sent.map((frame) => frame.t))).toEqual(new Set(['attach', 'detach']))
})

test('attempts get further apart up to five seconds, and "try now" does not wait', () => {
  const it = setup()
  it.latest().hello()
  it.latest().break()
  for (const wait of [250, 500, 1000, 2000, 4000, 5000, 5000]) {
    const before = it.sockets.length
    it.advance(wait - 1)
    expect(it.sockets).toHaveLength(before)
    it.advance(1)
    expect(it.sockets).toHaveLength(before + 1)
    it.latest().break()
  }
  const before = it.sockets.length
  it.connection.retryNow()
  expect(it.sockets).toHaveLength(before + 1)
})

test('a frame of a socket that was given up is ignored', () => {
  const it = setup()
  const old = it.latest()
  old.hello(1000)
  const handler = old.onmessage
  it.advance(3000)
  const count = it.frames.length
  handler?.({ data: JSON.stringify({ t: 'sessions', rows: [], removed: [] }) })
  expect(it.frames).toHaveLength(count)
})

test('a closed connection stays closed', () => {
  const it = setup()
  it.latest().hello()
  it.connection.close()
  it.advance(60_000)
  expect(it.sockets).toHaveLength(1)
})
