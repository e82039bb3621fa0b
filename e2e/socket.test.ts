import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { draft, type LogEvent } from '../server/wire/events.ts'
import { textOf } from '../server/wire/messages.ts'
import { PING_MS, type DeltaFrame, type ServerFrame } from '../server/wire/protocol.ts'
import { Refused, addressOf, type Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'
import { Puppet, type PuppetCall } from './puppet.ts'

let host: TestHost
let puppet: Puppet
let client: Client
let workspace: string

beforeEach(async () => {
  host = await startHost()
  puppet = new Puppet()
  host.host.service('llm')!.add(puppet.route)
  client = await host.connect()
  workspace = await host.workspace(client)
})
afterEach(() => host.remove())

async function session(from: Client = client): Promise<string> {
  const created = await from.command('session.create', {
    workspace,
    preset: 'minimal',
    selection: { ...Puppet.selection, alsoDefault: false },
  })
  return created.session
}

const contiguous = (events: LogEvent[]) =>
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => events[0]!.seq + index))

const deltasOf = (tab: Client) => tab.frames.filter((frame): frame is DeltaFrame => frame.t === 'delta')

/** The text a tab shows of one block, put together from its deltas; a gap or an overlap throws. */
function shown(tab: Client, from = 0): string {
  let text = ''
  for (const { offset, text: more } of deltasOf(tab).slice(from)) {
    if (offset === 0) text = ''
    if (offset !== text.length) throw new Error(`delta at ${offset} where ${text.length} was expected`)
    text += more
  }
  return text
}

const untilShown = (tab: Client, text: string, from = 0) =>
  tab.until((frame) => frame.t === 'delta' && shown(tab, from) === text)

const inserted = (events: LogEvent[]) =>
  events.flatMap((event) =>
    event.type === 'agent/inbox/spliced' && !event.data.removedCount ? event.data.inserted.map(textOf) : [],
  )

const prompts = ({ request }: PuppetCall) =>
  request.messages.filter(({ role, source }) => role === 'user' && source.kind === 'user').map(textOf)

describe('commands', () => {
  test('a command sent again under its id acts once and gets the same answer, on another socket too', async () => {
    const id = await session()
    await client.attach(id)
    const args = { session: id, text: 'only once' }
    const [first, second] = await Promise.all([
      client.command('session.prompt', args, 'same-id'),
      client.command('session.prompt', args, 'same-id'),
    ])
    const other = await host.connect()
    const third = await other.command('session.prompt', args, 'same-id')
    expect(second).toEqual(first)
    expect(third).toEqual(first)
    ;(await puppet.next()).say('once').finish()
    await client.turnEnd(id, 1)
    expect(inserted(client.events(id))).toEqual(['only once'])
    expect(puppet.calls).toHaveLength(1)
  })

  test('an id that stands for another command is refused, not answered with that one’s result', async () => {
    const id = await session()
    await client.command('session.prompt', { session: id, text: 'mine' }, 'taken')
    const other = await host.connect()
    const refusal = other.command('session.prompt', { session: id, text: 'other text' }, 'taken')
    await expect(refusal).rejects.toMatchObject({ code: 'gateway/bad-request' })
    ;(await puppet.next()).finish()
  })

  test('a refused command may be sent again under its id', async () => {
    const attempt = () => client.command('workspace.add', { path: `${host.work}/later` }, 'retry')
    await expect(attempt()).rejects.toBeInstanceOf(Refused)
    const { mkdirSync } = await import('node:fs')
    mkdirSync(`${host.work}/later`)
    expect((await attempt()).workspace.path).toBe(`${host.work}/later`)
  })

  test.each([
    ['not JSON', 'nonsense', 'A frame was not JSON'],
    ['an unknown frame', '{"t":"nope"}', 'Invalid'],
    ['an unknown command', '{"t":"command","id":"x","name":"nope","args":{}}', 'There is no command "nope"'],
    ['a command of Object.prototype', '{"t":"command","id":"x","name":"constructor","args":{}}', 'no command'],
    ['a wrong shape', '{"t":"command","id":"x","name":"session.prompt","args":{"session":1}}', 'session.prompt'],
    [
      'an unknown key',
      '{"t":"command","id":"x","name":"session.stop","args":{"session":"a","more":1}}',
      'session.stop',
    ],
    ['a list', '[]', 'Invalid'],
  ])('HS-12 a bad frame (%s) gets a typed error, and the socket goes on', async (_what, text, message) => {
    const from = client.frames.length
    client.sendRaw(text)
    const { error } = await client.frame('error', from)
    expect(error.code).toBe('gateway/bad-request')
    expect(error.message).toContain(message)
    await client.command('workspace.browse', { path: host.work })
  })

  test('HS-13 a session id that is a path is refused by its shape', async () => {
    const from = client.frames.length
    client.send({ t: 'attach', session: '../../etc' })
    expect((await client.frame('error', from)).error.code).toBe('gateway/bad-request')
    await expect(client.attach('no-such-session')).rejects.toMatchObject({ code: 'session/not-found' })
  })

  test('the longest prompt that a command may hold fits into a frame in every script', async () => {
    const id = await session()
    const { message } = await client.command('session.prompt', { session: id, text: '字'.repeat(400_000) })
    expect(message).toBeTruthy()
    ;(await puppet.next()).finish()
  })

  test('HS-12 a frame beyond 4 MB closes that socket and no other', async () => {
    const other = await host.connect()
    const { base, token } = addressOf(host.url)
    const raw = new WebSocket(`${base.replace('http', 'ws')}api/socket`, ['core-web', `bearer.${token}`])
    await new Promise((resolve) => raw.once('open', resolve))
    const code = new Promise<number>((resolve) => raw.once('close', resolve))
    raw.send('x'.repeat(4 * 1024 * 1024 + 1))
    expect(await code).toBe(1009)
    await other.command('workspace.browse', { path: host.work })
  })
})

describe('attach', () => {
  test('B58 a tab that lost its socket in the middle gets what it missed: no gap, no duplicate', async () => {
    const id = await session()
    await client.attach(id)
    await client.command('session.prompt', { session: id, text: 'first' })
    const call = await puppet.next()
    call.say('partial ')
    await untilShown(client, 'partial ')
    const before = client.events(id)
    await client.close()
    call.say('answer').finish()
    const back = await host.connect()
    const answer = await back.attach(id, before.at(-1)!.seq)
    expect(answer.t).toBe('attached')
    await back.turnEnd(id, 1)
    const all = [...before, ...back.events(id)]
    contiguous(all)
    expect(all.at(0)!.seq).toBe(0)
    const said = all.flatMap((event) => (event.type === 'assistant/message' ? [textOf(event.data.message)] : []))
    expect(said).toEqual(['partial answer'])
  })

  test('B58 far behind, the answer is a snapshot of bounded size', async () => {
    const id = await session()
    const { log } = host.host.service('sessions')!.live(id)!
    for (let round = 0; round < 30; round++)
      log.append(...Array.from({ length: 100 }, () => draft('llm/warning', { turn: 0, step: 0, feature: 'filler' })))
    const answer = await client.attach(id, 2)
    expect(answer.t).toBe('snapshot')
    expect(answer.events.length).toBeLessThanOrEqual(400)
    contiguous(answer.events)
    expect(answer.events.at(-1)!.seq).toBe(log.events.length - 1)
    const near = await client.attach(id, log.events.length - 3)
    expect(near.t).toBe('attached')
    expect(near.events).toHaveLength(2)
  })

  test('B85 a tab that comes in the middle gets the text from its start, and text and message agree', async () => {
    const id = await session()
    await client.attach(id)
    await client.command('session.prompt', { session: id, text: 'go' })
    const call = await puppet.next()
    call.think('hm').say('Grüße 🙂 ')
    await client.until((frame) => frame.t === 'delta' && frame.kind === 'text' && frame.text.endsWith('🙂 '))
    const late = await host.connect()
    await late.attach(id)
    const early = deltasOf(late)
    expect(early.map(({ kind, offset, text }) => [kind, offset, text])).toEqual([
      ['reasoning', 0, 'hm'],
      ['text', 0, 'Grüße 🙂 '],
    ])
    call.say('an alle')
    for (const tab of [client, late]) await tab.until((frame) => frame.t === 'delta' && frame.text.endsWith('alle'))
    call.finish()
    await late.turnEnd(id, 1)
    const message = await late.event(id, 'assistant/message')
    for (const tab of [client, late]) {
      const text = deltasOf(tab).filter(({ kind }) => kind === 'text')
      let whole = ''
      for (const { offset, text: more } of text) whole = whole.slice(0, offset) + more
      expect(whole).toBe(textOf(message.data.message))
    }
  })

  test('B65 two tabs are independent: looking elsewhere stops nothing, and each hears only what it shows', async () => {
    const [one, two] = [await session(), await session()]
    const other = await host.connect()
    await client.attach(one)
    await other.attach(two)
    await client.command('session.prompt', { session: one, text: 'in one' })
    const call = await puppet.next()
    await other.command('session.prompt', { session: two, text: 'in two' })
    const second = await puppet.next()
    for (let hop = 0; hop < 5; hop++) {
      other.send({ t: 'detach', session: two })
      await other.attach(one)
      other.send({ t: 'detach', session: one })
      await other.attach(two)
    }
    const from = other.frames.length
    call.say('done in one').finish()
    second.say('done in two').finish()
    await other.turnEnd(two, 1)
    const end = await client.turnEnd(one, 1)
    expect(end.data.reason).toEqual({ kind: 'completed' })
    const heard = other.frames.slice(from).filter((frame) => 'session' in frame && frame.session === one)
    expect(heard).toEqual([])
  })

  test('a tab that reads nothing never holds up a turn and gets a snapshot once it reads again', async () => {
    const id = await session()
    await client.attach(id)
    const { base, token } = addressOf(host.url)
    const slow = new WebSocket(`${base.replace('http', 'ws')}api/socket`, ['core-web', `bearer.${token}`])
    const frames: ServerFrame[] = []
    const got = (wanted: (frame: ServerFrame) => boolean) =>
      new Promise<ServerFrame>((resolve) => {
        const look = () => {
          const found = frames.find(wanted)
          if (found) resolve(found)
        }
        slow.on('message', look)
        look()
      })
    slow.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as ServerFrame))
    await got(({ t }) => t === 'hello')
    slow.send(JSON.stringify({ t: 'attach', session: id }))
    await got(({ t }) => t === 'snapshot')
    slow.pause()
    await client.command('session.prompt', { session: id, text: 'much' })
    const call = await puppet.next()
    // Far more than the socket's own buffers take, so that the server must drop this tab.
    for (let part = 0; part < 120; part++) {
      call.say('x'.repeat(100_000))
      await client.until((frame) => frame.t === 'delta' && frame.offset + frame.text.length >= (part + 1) * 100_000)
    }
    call.finish()
    const end = await client.turnEnd(id, 1)
    expect(end.data.reason).toEqual({ kind: 'completed' })
    const seen = frames.length
    slow.resume()
    const last = await got((frame) => frame.t === 'snapshot' && frame.to >= end.seq)
    expect(frames.indexOf(last)).toBeGreaterThanOrEqual(seen)
    const bytes = frames.reduce((sum, frame) => sum + (frame.t === 'delta' ? frame.text.length : 0), 0)
    expect(bytes).toBeLessThan(11_500_000)
    slow.terminate()
  }, 60_000)
})

describe('ping', () => {
  afterEach(() => vi.useRealTimers())

  test('B59 the server names its interval, pings by it, and lets go of a tab that stays silent', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const alive = await host.connect()
    const dead = await host.connect()
    dead.answersPings = false
    expect((await alive.frame('hello')).pingMs).toBe(PING_MS)
    const ending = dead.until(({ t }) => t === 'sessions').catch((error: Error) => error.message)
    vi.advanceTimersByTime(PING_MS)
    await alive.frame('ping')
    await dead.frame('ping')
    // The answer of the living tab must be there before the next round.
    await alive.command('workspace.browse', { path: host.work })
    vi.advanceTimersByTime(PING_MS)
    expect(await ending).toContain('socket closed')
    await alive.command('workspace.browse', { path: host.work })
  })
})

describe('the queue', () => {
  test('B67 queued prompts are the server’s: edited, removed and sent now from any tab, gone through in order', async () => {
    const id = await session()
    await client.attach(id)
    const send = async (text: string) => (await client.command('session.prompt', { session: id, text })).message
    await send('one')
    const first = await puppet.next()
    const two = await send('two')
    const three = await send('three')
    await send('four')
    await client.close()
    const back = await host.connect()
    await back.attach(id)
    await back.command('queue.edit', { session: id, message: two, text: 'two, edited' })
    expect(await back.command('queue.remove', { session: id, message: three })).toMatchObject({ text: 'three' })
    await expect(back.command('queue.remove', { session: id, message: three })).rejects.toMatchObject({
      code: 'session/queue-item-not-found',
    })
    first.finish()
    const second = await puppet.next()
    expect(prompts(second)).toEqual(['one', 'two, edited'])
    second.finish()
    const third = await puppet.next()
    expect(prompts(third)).toEqual(['one', 'two, edited', 'four'])
    third.finish()
    await back.turnEnd(id, 3)
  })

  test('B67 stop keeps what waits, parked with the reason; send-now takes it up again', async () => {
    const id = await session()
    await client.attach(id)
    await client.command('session.prompt', { session: id, text: 'one' })
    const first = await puppet.next()
    first.say('so far')
    await untilShown(client, 'so far')
    const waiting = (await client.command('session.prompt', { session: id, text: 'two' })).message
    expect(await client.command('session.stop', { session: id })).toEqual({ stopped: true })
    const end = await client.turnEnd(id, 1)
    expect(end.data.reason).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
    const kept = await client.event(id, 'assistant/message')
    expect(kept.data).toMatchObject({ interrupted: true })
    expect(textOf(kept.data.message)).toBe('so far')
    const snapshot = await client.attach(id)
    if (snapshot.t !== 'snapshot') throw new Error(snapshot.t)
    expect(snapshot.state.inbox['next-turn']).toMatchObject([{ message: { id: waiting }, parked: 'cancelled' }])
    await client.command('queue.send-now', { session: id, message: waiting })
    const second = await puppet.next()
    expect(prompts(second)).toEqual(['one', 'two'])
    second.finish()
    await client.turnEnd(id, 2)
    await client.command('session.rename', { session: id, title: 'all is on disk by now' })
    expect(await client.command('session.stop', { session: id })).toEqual({ stopped: false })
  })

  test('B67 steering reaches the next step of the running turn', async () => {
    const id = await session()
    await client.attach(id)
    await client.command('session.prompt', { session: id, text: 'one' })
    const first = await puppet.next()
    await client.command('session.prompt', { session: id, text: 'rather this', mode: 'steer' })
    first.call('c1', 'bash', { command: 'true' }).finish('tool-calls')
    const second = await puppet.next()
    expect(prompts(second)).toEqual(['one', 'rather this'])
    second.finish()
    await client.turnEnd(id, 1)
    expect(client.events(id).filter(({ type }) => type === 'turn/start')).toHaveLength(1)
  })
})

test('a restart in the middle of an answer: text kept, turn closed, queue kept, the same tab goes on', async () => {
  const id = await session()
  await client.attach(id)
  await client.command('session.prompt', { session: id, text: 'one' })
  const call = await puppet.next()
  call.say('half an answer')
  await untilShown(client, 'half an answer')
  await client.command('session.prompt', { session: id, text: 'two' })
  const seen = client.events(id)
  await host.close()

  host = await startHost({ dataDir: host.dataDir, work: host.work })
  host.host.service('llm')!.add(puppet.route)
  const back = await host.connect()
  const answer = await back.attach(id, seen.at(-1)!.seq)
  expect(answer.t).toBe('attached')
  contiguous([...seen, ...back.events(id)])
  const kept = await back.event(id, 'assistant/message')
  expect(textOf(kept.data.message)).toBe('half an answer')
  expect(kept.data.interrupted).toBe(true)
  expect((await back.turnEnd(id, 1)).data.reason).toEqual({ kind: 'aborted', reason: { kind: 'disposed' } })

  await back.command('session.prompt', { session: id, text: 'three' })
  const second = await puppet.next()
  expect(prompts(second)).toEqual(['one', 'two'])
  second.finish()
  const third = await puppet.next()
  expect(prompts(third)).toEqual(['one', 'two', 'three'])
  third.finish()
  await back.turnEnd(id, 3)
  contiguous([...seen, ...back.events(id)])
})

test('B34 a command that a tab sends again after a restart acts once: one session, one prompt', async () => {
  const command = '01a22eb1-5617-786c-bffd-5185f7df92e4'
  const prompt = '01a22eb1-5617-786c-bffd-5185f7df92e5'
  const selection = { ...Puppet.selection, alsoDefault: false }
  const create = (from: Client) =>
    from.command('session.create', { workspace, preset: 'minimal', selection, prompt: 'first' }, command)
  const send = (from: Client, session: string) => from.command('session.prompt', { session, text: 'second' }, prompt)
  const made = await create(client)
  const sent = await send(client, made.session)
  await host.close()

  host = await startHost({ dataDir: host.dataDir, work: host.work })
  host.host.service('llm')!.add(puppet.route)
  const back = await host.connect()
  expect((await create(back)).session).toBe(made.session)
  expect(await send(back, made.session)).toEqual(sent)
  const snapshot = await back.attach(made.session)
  expect(inserted(snapshot.events)).toEqual(['first', 'second'])
})
