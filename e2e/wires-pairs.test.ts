import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WireFamily } from '../server/wire/messages.ts'
import type { Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'
import { WIRES } from './mock-llm/rig.ts'
import type { Reply } from './mock-llm/reply.ts'
import { startMock, type Mock } from './mock-llm/server.ts'
import { judge } from './tapes/judge.ts'

let mock: Mock
let host: TestHost
let client: Client
let workspace: string
beforeAll(async () => {
  mock = await startMock()
  host = await startHost()
  client = await host.connect()
  workspace = await host.workspace(client)
  for (const wire of WIRES) {
    await client.command('provider.save', {
      id: `pair-${wire}`,
      label: wire,
      wire,
      baseURL: `${mock.url}/v1`,
      options: {
        models: ['mock-model'],
        headers: { 'x-lane': '{{session}}' },
        retry: { mode: 'normal', retries: 2, baseMs: 1, capMs: 10 },
        sendBack: 'reasoning_content',
        proxy: 'none',
      },
    })
    await client.command('credential.set', { provider: `pair-${wire}`, key: 'test-key' })
  }
}, 60_000)
afterAll(async () => {
  await host?.remove()
  await mock?.close()
})

/** Two calls at once, one of which fails; everything that can be signed is, in the name of one side. */
const working = (side: string, ids: readonly [string, string]): Reply => ({
  blocks: [
    { kind: 'reasoning', text: `Thoughts of ${side}.`, signature: `c2ln${side}x` },
    { kind: 'text', text: `${side} looks.` },
    { kind: 'tool', id: ids[0], name: 'bash', arguments: `{"command":"echo ${side}"}`, signature: `dG9vbA${side}=` },
    { kind: 'tool', id: ids[1], name: 'no_such_tool', arguments: '{}' },
  ],
})
const PAIRS = WIRES.flatMap((from) => WIRES.filter((to) => to !== from).map((to) => ({ from, to })))

async function prompted(session: string, turn: number, replies: readonly Reply[]): Promise<void> {
  mock.script(session, replies)
  await client.command('session.prompt', { session, text: `Prompt ${turn}.` })
  const { data } = await client.turnEnd(session, turn)
  expect(data.reason).toEqual({ kind: 'completed' })
}

/** A person stops the answer while its text arrives. */
async function stopped(session: string, turn: number): Promise<void> {
  const gate = `${session}/${turn}`
  const blocks: Reply['blocks'] = [
    { kind: 'reasoning', text: 'Stopped thoughts.', signature: 'c3RvcA==' },
    { kind: 'text', text: 'Cut off'.padEnd(400, ' and so on') },
  ]
  mock.script(session, [{ blocks, gates: [gate] }])
  await client.command('session.prompt', { session, text: `Prompt ${turn}.` })
  await client.until(
    (frame) => frame.t === 'delta' && frame.session === session && frame.turn === turn && frame.kind === 'text',
  )
  await client.command('session.stop', { session })
  const { data } = await client.turnEnd(session, turn)
  expect(data.reason).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
}

const select = (session: string, wire: WireFamily) =>
  client.command('model.select', { session, provider: `pair-${wire}`, model: 'mock-model', alsoDefault: false })
const signed = (raw: string): string[] => [...new Set(raw.match(/(c2ln|dG9vbA)[AB]/g))].sort()
const SIGNS: { [W in WireFamily]: string[] } = {
  chat: [],
  responses: ['c2lnA'],
  messages: ['c2lnA'],
  gemini: ['c2lnA', 'dG9vbAA'],
}
/** The last request of a session that came over a wire. */
const last = (session: string) => mock.requests.findLast(({ lane }) => lane === session)!

test.each(PAIRS)(
  'B19 a session on $from goes on over $to and comes back, every request as its vendor takes it',
  async ({ from, to }) => {
    const selection = { provider: `pair-${from}`, model: 'mock-model' }
    const { session } = await client.command('session.create', { workspace, preset: 'standard', selection })
    await client.attach(session)
    const lost = { behavior: 'partial_disconnect' as const, text: 'Never kept.' }
    await prompted(session, 1, [lost, working('A', ['functions.bash:0', `call_${'x'.repeat(90)}`]), { text: 'Seen.' }])
    await stopped(session, 2)

    await select(session, to)
    await prompted(session, 3, [working('B', ['call_b1', 'call_b2']), { text: 'Seen, too.' }])
    const over = last(session)
    expect(over.dialect).toBe(to)
    expect(signed(over.raw).filter((sign) => sign.endsWith('A'))).toEqual([])

    await select(session, from)
    await prompted(session, 4, [{ text: 'Back.' }])
    const back = last(session)
    expect(back.dialect).toBe(from)
    expect(signed(back.raw)).toEqual(SIGNS[from])
    for (const text of ['A looks.', 'Seen.', 'Cut off', 'B looks.', 'Seen, too.', 'Prompt 4.'])
      expect(back.raw).toContain(text)

    const requests = mock.requests.filter(({ lane }) => lane === session)
    expect(requests).toHaveLength(7)
    for (const { dialect, body, raw } of requests) {
      expect({ dialect, breaches: judge(dialect, body, { insists: true }) }).toEqual({ dialect, breaches: [] })
      expect(raw).not.toContain('Never kept.')
    }
    expect(client.events(session).filter((event) => event.type === 'llm/warning')).toEqual([])
  },
)
