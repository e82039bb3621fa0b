import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { declare, presetHost, removeRow, tool, withdraw } from '../boot-testing.ts'
import { plugin } from './kernel.ts'
import type { TestHost } from '../boot-testing.ts'

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!
const names = ({ host }: TestHost, scope: object | null) =>
  host
    .service('tools')!
    .view(scope)
    .map(({ spec }) => spec.name)
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error as { code: string }).code,
  )
const redeclare = async ({ host }: TestHost, id: string, config: object) => {
  await host.ctx.loader.update(`host:declare-${id}`, { config })
  await (host.ctx.loader as unknown as { settled(): Promise<void> }).settled()
}
const rowOf = (name: string) => ({ id: name, name: 'probe-tool', config: { name } })

test('E-01 E-02 disabled rows are not failures', async () => {
  const rows = '- {id: off, name: probe-thrower, disabled: true}\n- {id: on, name: probe-tool, config: {name: on}}'
  expect(presetsOf(await presetHost(declare('standard', rows))).list()).toEqual([{ id: 'standard' }])
})

test('E-03 E-20 every failing row is named, aggregates with one line per member, also behind a cause', async () => {
  const aggregate = plugin({
    name: 'probe-aggregate',
    apply() {
      const inner = new AggregateError([new Error('third')], 'second')
      throw new Error('outer', { cause: new AggregateError([new Error('first'), inner], 'several') })
    },
  })
  const rows = '- {id: a, name: probe-thrower}\n- {id: b, name: probe-aggregate}\n- {id: c, name: nowhere}'
  const presets = presetsOf(
    await presetHost(declare('standard', rows), {
      catalog: { 'probe-aggregate': { plane: 'preset', load: async () => aggregate } },
    }),
  )
  const [row] = presets.list()
  expect(row?.broken).toContain(
    'a (probe-thrower): the probe gives up\nb (probe-aggregate): outer\n  - first\n  - second\n    - third\nc (nowhere): cannot import nowhere: neither in the catalog',
  )
})

test('E-04 E-10 a row that waits for a service heals when it comes, without a new declaration', async () => {
  const made = await presetHost(declare('standard', '- {id: late, name: probe-needs-late}'))
  const presets = presetsOf(made)
  expect(presets.list()).toEqual([
    { id: 'standard', broken: 'late (probe-needs-late): waiting for exampleLateService' },
  ])
  const healed = new Promise<void>((resolve) => {
    presets.onChange(() => {
      if (presets.list()[0]?.broken === undefined) resolve()
    })
  })
  const retract = made.host.ctx.provide('exampleLateService', {})
  await healed
  expect(await presets.resolve('standard')).toEqual({ id: 'standard' })
  retract()
})

test('E-05 E-07 a failed mount leaves nothing registered and does not touch its neighbours', async () => {
  const rows = `${tool('left')}\n- {id: bad, name: probe-thrower}`
  const made = await presetHost(declare('broken', rows) + declare('standard', tool('alpha')))
  const presets = presetsOf(made)
  expect(presets.list()).toEqual([
    { id: 'broken', broken: 'bad (probe-thrower): the probe gives up' },
    { id: 'standard' },
  ])
  expect(presets.inspectCompositions().map(({ id }) => id)).toEqual(['standard'])
  expect(made.host.report.rows).toEqual([])
})

test('E-09 E-12 a preset that still waits after the deadline is refused and the scope stays unbound', async () => {
  const presets = presetsOf(await presetHost(declare('standard', '- {id: late, name: probe-needs-late}')))
  const scope = {}
  expect(await codeOf(presets.mount(scope, 'standard'))).toBe('agent-preset/invalid')
  expect(presets.composedPreset(scope)).toBe(undefined)
})

test('E-11 while the provider of a missing service is still activating, a use stays pending', async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const slow = plugin({
    name: 'slow',
    async apply(ctx) {
      started.resolve()
      await release.promise
      ctx.provide('exampleLateService', {})
    },
  })
  const made = await presetHost(declare('standard', '- {id: late, name: probe-needs-late}'), {
    catalog: { slow: { plane: 'host', load: async () => slow } },
  })
  const presets = presetsOf(made)
  void made.host.ctx.loader.create({ name: 'slow' })
  await started.promise
  let done = false
  const use = presets.mount({}, 'standard').then((id) => ((done = true), id))
  await new Promise(setImmediate)
  expect(done).toBe(false)
  release.resolve()
  expect(await use).toBe('standard')
})

test('E-13 a host row that awaits a diagnosis inside its own activation gets an error that names both', async () => {
  let refusal: unknown
  const impatient = plugin({
    name: 'impatient',
    inject: ['agentPresets'],
    async apply(ctx) {
      const presets = ctx.agentPresets
      await new Promise<void>((resolve) => {
        presets.onChange(() => {
          if (presets.list()[0]?.broken?.includes('waiting')) resolve()
        })
      })
      refusal = await presets.retain('standard').catch((error: unknown) => error)
    },
  })
  const late = '- {id: late, name: probe-needs-late}'
  await presetHost(`${declare('standard', late)}\n- {id: impatient-row, name: impatient}`, {
    catalog: { impatient: { plane: 'host', load: async () => impatient } },
  })
  expect(refusal).toMatchObject({
    code: 'agent-preset/awaited-in-activation',
    row: 'host:impatient-row',
    preset: 'standard',
  })
})

test('E-14 a service provided without a realm is refused and the root never sees it', async () => {
  const made = await presetHost(declare('standard', '- {id: leak, name: probe-provider}'))
  expect(presetsOf(made).list()[0]?.broken).toContain('services visible outside the preset: probeService')
  expect(made.host.service('probeService')).toBe(undefined)
})

const ISOLATED = `- id: realm
  name: cordis:group
  isolate: {probeService: true}
  config:
    - {id: inner, name: probe-provider}`

test('E-15 E-16 a service in a realm mounts, and only the exact revision answers for it', async () => {
  const made = await presetHost(declare('standard', ISOLATED))
  const presets = presetsOf(made)
  const scope = {}
  await presets.mount(scope)
  expect(presets.serviceFor(scope, 'probeService')).toEqual({ from: 'host:declare-standard:inner' })
  expect([presets.serviceFor({}, 'probeService'), presets.serviceFor(scope, 'tools')]).toEqual([undefined, undefined])
  expect(made.host.service('probeService')).toBe(undefined)
})

test('F-05 F-06 a withdrawn or replaced declaration keeps its old users, new ones join the new revision', async () => {
  const made = await presetHost(declare('standard', tool('alpha')))
  const presets = presetsOf(made)
  const [old, fresh] = [{}, {}]
  await presets.mount(old)
  await redeclare(made, 'standard', { id: 'standard', plugins: [rowOf('beta')] })
  await presets.mount(fresh)
  expect([names(made, old), names(made, fresh)]).toEqual([['alpha'], ['beta']])
  expect([presets.inspectCompositions().length, presets.list().length]).toEqual([2, 1])
  await withdraw(made, 'standard')
  expect([presets.list(), await codeOf(presets.resolve('standard'))]).toEqual([[], 'agent-preset/not-found'])
  expect([presets.composedPreset(old), names(made, old)]).toEqual(['standard', ['alpha']])
  await presets.leave(old)
  await presets.leave(fresh)
  expect(presets.inspectCompositions()).toEqual([])
})

test('F-07 F-08 a child joins the exact revision of its parent and keeps it alive after the parent', async () => {
  const made = await presetHost(declare('standard', tool('alpha')))
  const presets = presetsOf(made)
  const [parent, child] = [{}, {}]
  await presets.mount(parent)
  await redeclare(made, 'standard', { id: 'standard', plugins: [rowOf('beta')] })
  expect(presets.composeFrom(child, parent)).toBe('standard')
  await presets.leave(parent)
  expect([names(made, child), presets.inspectCompositions().length]).toEqual([['alpha'], 2])
  await presets.leave(child)
  expect(presets.inspectCompositions().length).toBe(1)
})

test('F-09 F-10 a parent without a preset gives none, and a joined or foreign scope is refused', async () => {
  const made = await presetHost(declare('standard', tool('alpha')))
  const other = await presetHost(declare('standard', tool('alpha')))
  const presets = presetsOf(made)
  const [joined, foreign] = [{}, {}]
  await presets.mount(joined)
  await presetsOf(other).mount(foreign)
  expect(presets.composeFrom({}, {})).toBe(undefined)
  expect(() => presets.composeFrom(joined, joined)).toThrow('already uses a preset')
  expect(() => presets.composeFrom({}, foreign)).toThrow('unavailable')
  expect(() => presets.composeFrom(undefined as never, joined)).toThrow('scope')
})

test('F-11 moving a parent afterwards does not move its child', async () => {
  const made = await presetHost(declare('standard', tool('alpha')) + declare('minimal', tool('beta')))
  const presets = presetsOf(made)
  const [parent, child] = [{}, {}]
  await presets.mount(parent, 'standard')
  presets.composeFrom(child, parent)
  await presets.mount(parent, 'minimal')
  expect([names(made, parent), names(made, child)]).toEqual([['beta'], ['alpha']])
})

test('F-13 F-14 a read lease holds a withdrawn revision, and releasing it twice counts once', async () => {
  const made = await presetHost(declare('standard', tool('alpha')))
  const presets = presetsOf(made)
  const scope = {}
  await presets.mount(scope)
  const lease = await presets.acquireScope()
  await withdraw(made, 'standard')
  await lease[Symbol.asyncDispose]()
  await lease[Symbol.asyncDispose]()
  expect(names(made, scope)).toEqual(['alpha'])
  await presets.leave(scope)
  expect(presets.inspectCompositions()).toEqual([])
})

test('F-16 compositions list active rows without groups; an unbound scope has none', async () => {
  const made = await presetHost(
    declare('standard', `${tool('alpha')}\n${ISOLATED}\n- {id: off, name: probe-thrower, disabled: true}`),
  )
  const presets = presetsOf(made)
  const [composition] = presets.inspectCompositions()
  expect(composition?.modules.map(({ moduleName }) => moduleName)).toEqual(['probe-tool', 'probe-provider'])
  expect([composition?.leakedServices, presets.inspectCompositions({})]).toEqual([[], []])
})

test('F-17 a stale disposer does not remove a later declaration of its id', async () => {
  const made = await presetHost(declare('other', tool('alpha')))
  const presets = presetsOf(made)
  const row = { entry: made.host.ctx.loader.resolve('host:declare-other'), baseUrl: undefined }
  const first = await presets.register({ id: 'again', plugins: [rowOf('one')] }, row)
  await first()
  await presets.register({ id: 'again', plugins: [rowOf('two')] }, row)
  await first()
  expect(await presets.resolve('again')).toEqual({ id: 'again' })
})

test('F-18 closing the registry row closes every revision', async () => {
  const made = await presetHost(declare('standard', tool('alpha')))
  const scope = {}
  const tools = made.host.service('tools')!
  await presetsOf(made).mount(scope)
  await removeRow(made, 'agent-presets')
  expect(tools.view(scope)).toEqual([])
})

test('B-04 an expression in a disabled child never runs', async () => {
  const rows = '- {id: off, name: probe-tool, disabled: true, config: {name: !!js "globalThis.probeRan = true"}}'
  await presetHost(declare('standard', `${rows}\n${tool('alpha')}`))
  expect('probeRan' in globalThis).toBe(false)
})

test('B-06 a child without an id gets eight hex digits', async () => {
  const presets = presetsOf(await presetHost(declare('standard', '- {name: probe-tool, config: {name: alpha}}')))
  expect(presets.inventory('standard')[0]?.id).toMatch(/^[0-9a-f]{8}$/)
})

test.for([
  ['a list', 'plugins is not a list', 'nothing'],
  ['maps', 'row 2 is not a map', [rowOf('a'), 'text']],
  ['names', 'row 1 lacks a non-empty name', [{ id: 'a', name: ' ' }]],
  ['group lists', 'row 1: config is not a list', [{ id: 'a', name: 'cordis:group', group: true, config: {} }]],
  [
    'inner names',
    'row 1 > row 2 lacks a non-empty name',
    [{ name: 'cordis:group', group: true, config: [rowOf('a'), {}] }],
  ],
] as const)('B-07 a preset that is not %s is broken and names the first bad row', async ([, reason, plugins]) => {
  const made = await presetHost(declare('other', tool('alpha')))
  const presets = presetsOf(made)
  const row = { entry: made.host.ctx.loader.resolve('host:declare-other'), baseUrl: undefined }
  await presets.register({ id: 'bad', plugins: plugins as never }, row)
  expect(presets.list().find(({ id }) => id === 'bad')?.broken).toBe(reason)
})

test('B-08 B-09 a blank id is refused, and so is a second declaration of a live id', async () => {
  const twice =
    declare('standard', tool('alpha')) + declare('standard', tool('beta')).replace('declare-standard', 'second')
  const made = await presetHost(twice + declare("' '", tool('x')).replace("declare-' '", 'blank'))
  expect(made.host.report.rows).toMatchObject([
    { row: 'second', cause: expect.stringContaining('standard is already declared') },
    { row: 'blank', cause: expect.stringContaining('is blank (at id)') },
  ])
  expect(presetsOf(made).list()).toEqual([{ id: 'standard' }])
})

test('B-12 B-13 a preset is mounted before anybody asks, and a failing one does not fail its row or the host', async () => {
  const made = await presetHost(
    declare('broken', '- {id: bad, name: probe-thrower}') + declare('standard', tool('alpha')),
  )
  expect(
    presetsOf(made)
      .inspectCompositions()
      .map(({ id }) => id),
  ).toEqual(['standard'])
  expect(made.host.report.rows).toEqual([])
})

test('D-14 a relative module of a child row is found from the folder of its document', async () => {
  const made = await presetHost(declare('other', tool('alpha')))
  await made.write('far/local.ts', `export default { name: 'local', apply: async () => {} }\n`)
  await writeFile(
    join(made.rootDir, 'far/doc.yml'),
    '- {id: doc, name: agent-preset, config: {id: far, plugins: [{id: local, name: ./local.ts}]}}\n',
  )
  await made.host.ctx.loader.create({ name: 'cordis:include', config: { path: 'far/doc.yml' } })
  await (made.host.ctx.loader as unknown as { settled(): Promise<void> }).settled()
  expect(await presetsOf(made).resolve('far')).toEqual({ id: 'far' })
})

test('G-01 G-02 the roster is sorted by order, then id, and has no empty fields', async () => {
  const made = await presetHost(
    declare('c', tool('a')) +
      declare('b', tool('a'), 'order: 2') +
      declare('a', tool('a')) +
      declare('z', tool('a'), 'order: 1'),
  )
  expect(presetsOf(made).list()).toEqual([{ id: 'z', order: 1 }, { id: 'b', order: 2 }, { id: 'a' }, { id: 'c' }])
})

test('G-04 G-05 the document shows the declared rows with their expressions, unfolded and in order', async () => {
  const long = 'word '.repeat(60).trim()
  const rows = `- {name: probe-tool, id: alpha, disabled: !!js "1 > 2", config: {name: alpha}}\n- {id: long, name: persona, config: {prefix: ${long}}}`
  const { content, agentPreset } = presetsOf(await presetHost(declare('standard', rows))).readDocument('standard')
  expect(agentPreset).toBe('standard')
  expect(content).toBe(
    `- name: probe-tool\n  id: alpha\n  disabled: !!js 1 > 2\n  config:\n    name: alpha\n- id: long\n  name: persona\n  config:\n    prefix: ${long}\n`,
  )
})

test('G-09 the inventory of a broken preset evaluates nothing', async () => {
  const rows = `- {id: bad, name: probe-thrower}
- {id: maybe, name: probe-tool, disabled: !!js "globalThis.probeAsked = true"}
- id: off
  name: cordis:group
  group: true
  disabled: true
  config: [{id: inside, name: probe-tool}]`
  const presets = presetsOf(await presetHost(declare('broken', rows)))
  expect(presets.inventory('broken')).toEqual([
    { id: 'bad', name: 'probe-thrower', enabled: true },
    { id: 'maybe', name: 'probe-tool', enabled: 'conditional', condition: 'globalThis.probeAsked = true' },
    { id: 'inside', name: 'probe-tool', enabled: false },
  ])
})
