import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CORE_ROWS, testHost } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import { plugin } from '../preset/kernel.ts'
import { LLM, STORE, agentsOf, causeOf, idsOf, loopHost, loopRow, stored, titles } from './configured-agents.fixture.ts'

test('N-06 one entry with both identities rejects the config, and nothing starts', async () => {
  const made = await loopHost([
    { id: 'fine', sessionId: 's0' },
    { id: 'main', sessionId: 's1', resumeSessionId: 's2' },
  ])
  expect(causeOf(made)).toContain('invalid config')
  expect(causeOf(made)).toContain('entry main has both sessionId and resumeSessionId (at agents.1)')
  expect(made.host.service('agents')).toBe(undefined)
})

test.each([
  ['sessionId', 'sessionId'],
  ['sessionId', 'resumeSessionId'],
  ['resumeSessionId', 'resumeSessionId'],
])('N-07 two entries of one session (%s, %s) reject the config before any start', async (first, second) => {
  const made = await loopHost([
    { id: 'one', [first]: 's1' },
    { id: 'two', [second]: 's1' },
  ])
  expect(causeOf(made)).toContain(`session s1 is already taken by entry one (at agents.1.${second})`)
  expect([made.host.service('agents'), made.failures]).toEqual([undefined, []])
})

test('N-08 an empty session id is named by row and key', async () => {
  const cause = causeOf(await loopHost([{ id: 'fine' }, { id: 'main', sessionId: '' }]))
  expect(cause).toContain('invalid config')
  expect(cause).toMatch(/>=1 characters \(at agents\.1\.sessionId\)/)
})

test('N-08 what else is wrong with an entry is named by row and key too', async () => {
  const cause = causeOf(await loopHost([{ sessionId: 'a/b', cwd: 'here', resumeSessionId: '../x', presets: [] }]))
  for (const key of ['id', 'sessionId', 'cwd', 'resumeSessionId']) expect(cause).toContain(`(at agents.0.${key})`)
  expect(cause).toContain('"presets"')
})

test('N-09 the launcher’s session replaces both keys of its entry and leaves the others alone', async () => {
  const dataDir = await stored('assigned')
  const made = await loopHost(
    [
      { id: 'main', sessionId: 's1', model: 'm' },
      { id: 'second', resumeSessionId: 'gone' },
      { id: 'third', sessionId: 's3' },
    ],
    {
      dataDir,
      configuredAgentIdentities: { main: { id: 'assigned', resume: true }, second: { id: 's2', resume: false } },
    },
  )
  expect(idsOf(made).toSorted()).toEqual(['assigned', 's2', 's3'])
  expect([titles(made, 'assigned'), agentsOf(made).get('assigned')!.options.model]).toEqual([['kept'], 'm'])
})

test('N-09 a layer that rewrites the models of the config cannot drop the launcher’s session', async () => {
  const patch = { id: 'agent-loop', config: { agents: [{ id: 'main', provider: 'route-b', model: 'model-b' }] } }
  const env = { CORE_WEB_AGENT_IDENTITIES: JSON.stringify({ main: { id: 'assigned', resume: false } }) }
  const made = await loopHost([{ id: 'main', sessionId: 's1', model: 'model-a' }], { env, patches: [patch] })
  expect(
    agentsOf(made)
      .list()
      .map(({ id, options }) => [id, options.provider, options.model]),
  ).toEqual([['assigned', 'route-b', 'model-b']])
})

test('N-09 a launcher’s session may be provided as a service; one that is taken, or no session, rejects the config', async () => {
  const launcher = plugin({
    name: 'launcher',
    apply: (ctx) => void ctx.provide('configuredAgentIdentities', { main: { id: 's2', resume: false } }),
  })
  const catalog = { launcher: { plane: 'host' as const, load: () => Promise.resolve(launcher) } }
  const entries = [
    { id: 'main', sessionId: 's1' },
    { id: 'other', sessionId: 's2' },
  ]
  const row = loopRow(entries).replace('name: agent-loop', 'name: agent-loop\n  inject: [configuredAgentIdentities]')
  const taken = await testHost(
    { [HOST_FILE]: `- {id: launcher, name: launcher}\n${CORE_ROWS}${LLM}${row}${STORE}` },
    { catalog },
  )
  expect(causeOf(taken)).toContain('session s2 is already taken by entry main (at agents.1.sessionId)')
  for (const [text, complaint] of [
    ['{', 'invalid CORE_WEB_AGENT_IDENTITIES'],
    ['{"main":{"id":"","resume":true}}', '(at main.id)'],
  ]) {
    const made = await loopHost([{ id: 'main' }], { env: { CORE_WEB_AGENT_IDENTITIES: text } })
    expect(causeOf(made)).toContain(complaint)
  }
})

test('N-13 a rejected config leaves neither service nor listener nor session behind', async () => {
  const dataDir = join(await stored('old'), 'data')
  await mkdir(dataDir, { recursive: true })
  const made = await loopHost(
    [
      { id: 'a', sessionId: 's1' },
      { id: 'b', sessionId: 's1' },
    ],
    { dataDir },
  )
  expect(made.host.service('agents')).toBe(undefined)
  expect(made.host.service('hooks')!.has('agent/status')).toBe(false)
  expect(await made.host.service('sessionStore')!.list()).toEqual([])
  await made.write(HOST_FILE, CORE_ROWS + LLM + loopRow([{ id: 'a', sessionId: 's1' }]) + STORE)
  await made.host.reload()
  expect([causeOf(made), idsOf(made)]).toEqual(['started', ['s1']])
})

test.each([0, -1, 1.5, 2 ** 53, 'many'])('N-14 maxTokens %s is refused by row and key', async (maxTokens) => {
  expect(causeOf(await loopHost([{ id: 'main', maxTokens }]))).toContain('(at agents.0.maxTokens)')
})
