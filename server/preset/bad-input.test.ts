import { expect, test } from 'vitest'
import { declare, presetHost, testAgent, tool, withdraw } from '../boot-testing.ts'
import { plugin } from './kernel.ts'
import type { Catalog } from './loader.ts'
import type { TestHost } from '../boot-testing.ts'

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error as { code: string }).code,
  )

const hostile = (apply: () => unknown): Catalog => {
  const row = plugin({ name: 'hostile', apply: apply as never })
  return { hostile: { plane: 'preset', load: () => Promise.resolve(row) } }
}

/** The preset `fine` is never concerned by what is wrong with `bad`. */
async function beside(rows: string, options: Parameters<typeof presetHost>[1] = {}) {
  const made = await presetHost(declare('bad', rows) + declare('fine', tool('a')), options)
  const presets = presetsOf(made)
  expect(await presets.resolve('fine')).toEqual({ id: 'fine' })
  const [bad, fine] = presets.list()
  expect(fine).toEqual({ id: 'fine' })
  return { made, presets, broken: bad?.broken }
}

test.for([
  [
    'an expression that throws',
    '- {id: x, name: probe-tool, config: {name: !!js "missing.thing"}}',
    /x \(probe-tool\): .*missing/,
  ],
  [
    'an expression that is no JavaScript',
    '- {id: x, name: probe-tool, config: {name: !!js "}{"}}',
    /x \(probe-tool\): /,
  ],
  ['an expression without a body', '- {id: x, name: probe-tool, config: {name: !!js ""}}', /x \(probe-tool\): /],
  [
    'an expression in disabled that throws',
    '- {id: x, name: probe-tool, disabled: !!js "missing()", config: {name: a}}',
    /x \(probe-tool\): never started: .*missing/,
  ],
  ['a module that is not there', '- {id: x, name: ./nowhere.ts}', /x \(\.\/nowhere\.ts\): cannot import/],
  [
    'a package that is not there',
    '- {id: x, name: no-such-package-at-all}',
    /x \(no-such-package-at-all\): cannot import/,
  ],
  [
    'an id twice',
    '- {id: x, name: probe-tool, config: {name: a}}\n- {id: x, name: probe-tool, config: {name: b}}',
    /two rows have the id x/,
  ],
  [
    'a tool name twice',
    '- {id: x, name: probe-tool, config: {name: a}}\n- {id: y, name: probe-tool, config: {name: a}}',
    /y \(probe-tool\): .*already registered/,
  ],
  ['a service for everybody', '- {id: x, name: probe-provider}', /probeService/],
] as const)('%s breaks its preset only, with a reason that names the row', async ([, rows, reason]) => {
  const { presets, broken } = await beside(rows)
  expect(broken).toMatch(reason)
  expect(await codeOf(presets.retain('bad'))).toBe('agent-preset/invalid')
  expect(presets.generations('bad')).toEqual([])
})

test('a config that contains itself is refused as a trial and as a declaration', async () => {
  const { made, presets } = await beside(tool('b'))
  const { root, loader } = made.host.ctx
  const fibers = () => [...root.registry.values()].reduce((sum, { fibers: live }) => sum + [...live].length, 0)
  const before = fibers()
  const declaration = { id: 'loop', plugins: loop() }
  expect(await presets.registry.trial(declaration, {})).toEqual({ rows: [], broken: 'the declaration contains itself' })
  const withdrawLoop = await presets.register(declaration, {
    entry: loader.resolve('host:declare-fine'),
    baseUrl: undefined,
  })
  expect(presets.list().find(({ id }) => id === 'loop')?.broken).toContain('the declaration contains itself')
  expect([presets.generations('loop'), fibers()]).toEqual([[], before])
  await withdrawLoop()
})

/** A config that contains itself, as an alias in YAML makes one. */
function loop(): never {
  const config: Record<string, unknown> = { name: 'a' }
  config['self'] = config
  return [{ id: 'x', name: 'probe-tool', config }] as never
}

test('a row whose apply throws, and one that never settles, break their preset within the deadline', async () => {
  const throwing = await beside('- {id: x, name: hostile}', {
    catalog: hostile(() => {
      throw new Error('no mood')
    }),
  })
  expect(throwing.broken).toBe('x (hostile): no mood')
  const hanging = await presetHost(`${declare('bad', '- {id: x, name: hostile}')}${declare('fine', tool('a'))}`, {
    catalog: hostile(() => new Promise(() => {})),
    settleMs: 1000,
    patches: [{ id: 'agent-presets', config: { default: 'standard', mountDeadlineMs: 50, diagnosisDeadlineMs: 50 } }],
  })
  const presets = presetsOf(hanging)
  expect(presets.list()).toEqual([{ id: 'bad', broken: 'x (hostile): still starting' }, { id: 'fine' }])
  expect(await codeOf(presets.retain('bad'))).toBe('agent-preset/invalid')
})

test('a row that throws while it stops does not keep its generation, or the host, from closing', async () => {
  const { made, presets } = await beside('- {id: x, name: hostile}', {
    catalog: hostile(() => () => {
      throw new Error('not now')
    }),
  })
  const scope = {}
  await presets.mount(scope, 'bad')
  await withdraw(made, 'bad')
  await presets.leave(scope)
  await presets.settled()
  expect(presets.generations().map(({ preset }) => preset)).toEqual(['fine'])
})

test('withdrawn while in use: the user keeps it, nobody new gets it, and a switch away ends it', async () => {
  const { made, presets } = await beside(tool('b'))
  const agent = testAgent('s1')
  await presets.mount(agent.scope, 'bad')
  await withdraw(made, 'bad')
  expect([presets.composedPreset(agent.scope), await codeOf(presets.mount({}, 'bad'))]).toEqual([
    'bad',
    'agent-preset/not-found',
  ])
  expect(await presets.select(agent, 'fine')).toBe('fine')
  await presets.settled()
  expect(presets.generations().map(({ preset }) => preset)).toEqual(['fine'])
})
