import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { WIRES } from '../mock-llm/rig.ts'
import { codeOf, isSentence, messageOf, ONE_RETRY, rigged, type RouteSetup, WORKS } from './rig.ts'

const rig = rigged()

/** A port on which nothing listens any more. */
async function deadPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The provider comes back at its address, so that the session can go on. */
async function mended(setup: RouteSetup, session: string): Promise<unknown> {
  const id = await rig.route(setup)
  const options = { models: ['mock-model'], headers: { 'x-lane': '{{session}}' }, retry: ONE_RETRY, proxy: 'none' }
  await rig.client.command('provider.save', { id, wire: setup.wire ?? 'chat', baseURL: `${rig.mock.url}/v1`, options })
  return rig.next(session)
}

test('B61 nothing listens: the turn says so after one retry, and goes on when the server is back', async () => {
  for (const wire of WIRES) {
    const setup = { wire, baseURL: `http://127.0.0.1:${await deadPort()}/v1` }
    const run = await rig.run(setup, [])
    expect(run.reason).toMatchObject({ kind: 'error', error: { code: 'TRANSPORT', transport: 'refused' } })
    expect(messageOf(run.reason)).toSatisfy(isSentence)
    expect(rig.client.events(run.session).filter((event) => event.type === 'llm/retry')).toHaveLength(1)
    expect(await mended(setup, run.session)).toEqual(WORKS)
  }
})

test('B61 a name that does not resolve is told apart from a server that is down', async () => {
  const setup = { baseURL: 'http://no-such-host.invalid/v1' }
  const run = await rig.run(setup, [])
  expect(run.reason).toMatchObject({ kind: 'error', error: { code: 'TRANSPORT', transport: 'dns' } })
  expect(await mended(setup, run.session)).toEqual(WORKS)
})

test('B61 a server that speaks no TLS is told apart, too', async () => {
  const setup = { baseURL: `${rig.mock.url.replace('http:', 'https:')}/v1` }
  const run = await rig.run(setup, [])
  expect(run.reason).toMatchObject({ kind: 'error', error: { code: 'TRANSPORT', transport: 'tls' } })
  expect(messageOf(run.reason)).toSatisfy(isSentence)
  expect(await mended(setup, run.session)).toEqual(WORKS)
})

test.each(WIRES)(
  'B64 over %s headers and then nothing: the deadline of the first byte ends the attempt',
  async (wire) => {
    const run = await rig.run({ wire, options: { firstByteMs: 60 } }, [{ behavior: 'stall' }, { behavior: 'stall' }])
    expect(codeOf(run.reason)).toBe('TIMEOUT')
    expect(run.requests).toHaveLength(2)
    for (const { closed } of run.requests) expect((await closed).completed).toBe(false)
    expect(await rig.next(run.session)).toEqual(WORKS)
  },
)

test.each(WIRES)(
  'B64 over %s silence in the middle: the idle deadline ends the attempt, and a retry heals it',
  async (wire) => {
    const run = await rig.run({ wire, options: { idleMs: 60 } }, [{ behavior: 'partial_stall' }, { text: 'Whole.' }])
    expect(run.reason).toEqual({ kind: 'completed' })
    expect(run.requests).toHaveLength(2)
    const attempt = await rig.client.event(run.session, 'assistant/attempt')
    expect(attempt.data.error).toMatchObject({ code: 'TIMEOUT' })
    expect(await rig.next(run.session)).toEqual(WORKS)
  },
)

test('B64 the countdown of a retry survives a reload, and a stop ends it at once', async () => {
  const retry = { mode: 'normal' as const, retries: 3, baseMs: 600_000, capMs: 900_000 }
  const session = await rig.session({ options: { firstByteMs: 60, retry } })
  rig.mock.script(session, [{ behavior: 'stall' }])
  await rig.client.command('session.prompt', { session, text: 'Go.' })
  const { data, time } = await rig.client.event(session, 'llm/retry')
  expect(data).toMatchObject({ attempt: 1, code: 'TIMEOUT' })
  expect(data.delayMs).toBeGreaterThan(500_000)
  expect(Math.abs(data.until - time - data.delayMs)).toBeLessThan(60_000)
  const reloaded = await rig.host.connect()
  const snapshot = await reloaded.attach(session)
  expect(snapshot).toMatchObject({ state: { openTurn: { turn: 1 }, retry: { until: data.until } } })
  await reloaded.close()
  await rig.client.command('session.stop', { session })
  expect((await rig.client.turnEnd(session, 1)).data.reason).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
  expect(rig.requests(session)).toHaveLength(1)
  expect(await rig.next(session)).toEqual(WORKS)
})

test('B64 both deadlines are on without a word in the settings', async () => {
  const provider = await rig.client.command('provider.save', {
    id: 'plain',
    label: 'Plain',
    wire: 'chat',
    baseURL: 'https://models.example/v1',
  })
  const { defaults } = provider.provider
  expect(defaults!.firstByteMs).toBeGreaterThan(0)
  expect(defaults!.idleMs).toBeGreaterThan(0)
  expect(defaults!.retry.retries).toBeGreaterThan(0)
})
