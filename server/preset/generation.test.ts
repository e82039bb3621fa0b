import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Roster } from '../session/roster.ts'
import { declare, presetHost, removeRow, testAgent, tool, withdraw } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import { text } from '../tool/tool.ts'
import { plugin } from './kernel.ts'
import { scopeOf } from './scope-tag.ts'
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

test('E-13 the same through another service: a row that makes a session inside its own activation is refused', async () => {
  let refusal: unknown
  const through = plugin({
    name: 'through',
    inject: ['agentPresets'],
    apply(ctx) {
      ctx.provide('through', { open: () => ctx.agentPresets.mount({}, 'standard') })
    },
  })
  const impatient = plugin({
    name: 'impatient',
    inject: ['through' as 'tools', 'agentPresets'],
    async apply(ctx) {
      await ctx.agentPresets.settled()
      const service = (ctx as unknown as { through: { open(): Promise<string> } }).through
      refusal = await service.open().catch((error: unknown) => error)
    },
  })
  const late = '- {id: late, name: probe-needs-late}'
  const made = await presetHost(
    `${declare('standard', late)}\n- {id: through, name: through}\n- {id: impatient-row, name: impatient}`,
    {
      catalog: {
        through: { plane: 'host', load: async () => through },
        impatient: { plane: 'host', load: async () => impatient },
      },
    },
  )
  expect(refusal).toMatchObject({ code: 'agent-preset/awaited-in-activation', row: 'host:impatient-row' })
  expect(made.host.report.rows).toEqual([])
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
  [
    'names to inject',
    'row 1 (probe-tool): inject is neither a list of names nor a map',
    [{ ...rowOf('a'), inject: 3 }],
  ],
  [
    'names alone to inject',
    'row 1 (probe-tool): inject is neither a list of names nor a map',
    [{ ...rowOf('a'), inject: [null] }],
  ],
  ['maps to isolate', 'row 1 (probe-tool): isolate is not a map', [{ ...rowOf('a'), isolate: 'fs' }]],
  ['labels', 'row 1 (probe-tool): isolate of fs is neither true nor a label', [{ ...rowOf('a'), isolate: { fs: 1 } }]],
  ['maps to intercept', 'row 1 (probe-tool): intercept is not a map', [{ ...rowOf('a'), intercept: 3 }]],
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

test('D-01 D-05 each activation has a scope and a tree of its own, and no tree writes a file', async () => {
  const made = await presetHost(declare('standard', tool('alpha')) + declare('minimal', tool('beta')))
  const host = join(made.rootDir, HOST_FILE)
  const before = await readFile(host, 'utf8')
  const presets = presetsOf(made)
  const leases = [await presets.acquireScope('standard'), await presets.acquireScope('minimal')]
  expect(leases[0]!.key).not.toBe(leases[1]!.key)
  // A row that is changed from inside: any other tree of the loader would write this down.
  const inner = await presets.retain('standard')
  const { tree } = inner.generation
  expect(tree).not.toBe(made.host.ctx.loader.resolve('host:declare-standard').parent.tree)
  await tree.update(tree.root.data[0]!.id, { config: { name: 'changed' } })
  await tree.await()
  expect(names(made, inner.generation.key)).toEqual(['changed'])
  await inner.release()
  await redeclare(made, 'minimal', { id: 'minimal', plugins: [rowOf('gamma')] })
  expect(await readFile(host, 'utf8')).toBe(before)
  for (const lease of leases) await lease[Symbol.asyncDispose]()
})

test('D-08 closing a generation takes back every registration of its rows', async () => {
  const rows = `${tool('alpha')}\n- {id: persona, name: persona, config: {prefix: hello, includeRuntimeContext: false}}`
  const made = await presetHost(declare('standard', rows))
  const presets = presetsOf(made)
  const lease = await presets.acquireScope()
  const { key } = lease
  await withdraw(made, 'standard')
  expect(names(made, key)).toEqual(['alpha'])
  await lease[Symbol.asyncDispose]()
  const agent = { id: 'a', scope: key, cwd: '/' }
  const { signal } = new AbortController()
  const { sections } = await made.host.service('systemPrompt')!.assemble({ agent, scope: key, signal, tools: [] })
  expect([names(made, key), sections.find(({ text }) => text === 'hello')]).toEqual([[], undefined])
})

test('D-12 D-13 one instance of a row serves all agents of a revision, and its inner state is not frozen', async () => {
  let made = 0
  const counter = plugin({
    name: 'counter',
    inject: ['tools'],
    apply(ctx) {
      made += 1
      let calls = 0
      const run = async () => text(String(++calls))
      ctx.effect(() => ctx.tools.add(scopeOf(ctx)!, { spec: { name: 'count', description: '', parameters: {} }, run }))
    },
  })
  const catalog = { counter: { plane: 'preset' as const, load: async () => counter } }
  const host = await presetHost(declare('standard', '- {id: counter, name: counter}'), { catalog })
  const [a, b] = [{}, {}]
  await presetsOf(host).mount(a)
  await presetsOf(host).mount(b)
  const call = (scope: object) =>
    host.host
      .service('tools')!
      .view(scope)[0]!
      .run({}, {} as never)
  const answers = [await call(a), await call(b)].map(({ content }) => content)
  expect([made, answers]).toEqual([1, [text('1').content, text('2').content]])
})

test('E-06 a waiting preset stays mounted and is inspected', async () => {
  const made = await presetHost(declare('standard', `${tool('alpha')}\n- {id: late, name: probe-needs-late}`))
  const [composition] = presetsOf(made).inspectCompositions()
  expect(composition?.modules.map(({ moduleName }) => moduleName)).toEqual(['probe-tool'])
})

test('E-08 a mounted preset is audited at every read, a failed mount is final until it is declared anew', async () => {
  const made = await presetHost(
    declare('standard', '- {id: late, name: probe-needs-late}') + declare('broken', '- {id: bad, name: probe-thrower}'),
  )
  const presets = presetsOf(made)
  const retract = made.host.ctx.provide('exampleLateService', {})
  expect(await presets.resolve('standard')).toEqual({ id: 'standard' })
  retract()
  await (made.host.ctx.loader as unknown as { settled(): Promise<void> }).settled()
  expect(await presets.resolve('standard')).toMatchObject({ broken: expect.stringContaining('waiting for') })
  expect(await presets.resolve('broken')).toHaveProperty('broken')
  await redeclare(made, 'broken', { id: 'broken', plugins: [rowOf('fixed')] })
  expect(await presets.resolve('broken')).toEqual({ id: 'broken' })
})

test('E-17 a realm stays inside its group: the rest of the preset and the host see the host’s service', async () => {
  const seen: unknown[] = []
  const looker = plugin({
    name: 'looker',
    inject: ['probeService' as 'tools'],
    apply: (ctx) => void seen.push(ctx.get('probeService')),
  })
  const catalog = { looker: { plane: 'preset' as const, load: async () => looker } }
  const made = await presetHost(declare('standard', `${ISOLATED}\n- {id: looker, name: looker}`), { catalog })
  const own = { from: 'the host' }
  made.host.ctx.provide('probeService', own)
  await presetsOf(made).resolve()
  await (made.host.ctx.loader as unknown as { settled(): Promise<void> }).settled()
  expect(seen).toEqual([own])
})

test('E-18 two hosts in one process never see or blame each other', async () => {
  const [one, two] = [await presetHost(declare('standard', ISOLATED)), await presetHost(declare('standard', ISOLATED))]
  one.host.ctx.provide('probeService', {})
  expect([presetsOf(one).list(), presetsOf(two).list()]).toEqual([[{ id: 'standard' }], [{ id: 'standard' }]])
  expect(two.host.service('probeService')).toBe(undefined)
})

test('a redeclared preset counts its revisions, and one that never mounted has none', async () => {
  const made = await presetHost(
    declare('standard', tool('alpha')) + declare('broken', '- {id: x, name: probe-thrower}'),
  )
  const { registry } = presetsOf(made)
  const roster = new Roster(registry)
  await roster.start()
  const shown = () => roster.current().map(({ id, generation }) => [id, generation])
  expect(shown()).toEqual([
    ['broken', 0],
    ['standard', 1],
  ])
  const { plugins } = made.host.ctx.loader.resolve('host:declare-standard').options.config as { plugins: unknown[] }
  await redeclare(made, 'standard', { id: 'standard', name: 'again', plugins })
  await roster.refresh()
  expect(shown()).toContainEqual(['standard', 2])
  roster.close()
})

test('labelled realms of two generations of one preset do not meet', async () => {
  const rows = `- id: realm
  name: cordis:group
  isolate: {probeService: shared}
  config:
    - {id: inner, name: probe-provider}`
  const made = await presetHost(declare('standard', rows))
  const presets = presetsOf(made)
  const [old, fresh] = [{}, {}]
  await presets.mount(old)
  const { plugins } = made.host.ctx.loader.resolve('host:declare-standard').options.config as { plugins: unknown[] }
  await redeclare(made, 'standard', { id: 'standard', name: 'again', plugins })
  await presets.mount(fresh)
  expect(presets.list()).toEqual([{ id: 'standard', name: 'again' }])
  expect(presets.inspectCompositions().length).toBe(2)
  expect([old, fresh].every((scope) => presets.serviceFor(scope, 'probeService') !== undefined)).toBe(true)
})

test('F-12 where a scope looks up is its own link alone: neither a business parent nor the owner of the rows moves it', async () => {
  const made = await presetHost(declare('standard', tool('alpha')) + declare('minimal', tool('beta')))
  const presets = presetsOf(made)
  // `parentAgent` is what delegation calls the parent; the presets never read it.
  const parent = { parentAgent: undefined }
  const [stranger, other, child] = [{ parentAgent: parent }, { parentAgent: parent }, { parentAgent: parent }]
  await presets.mount(parent, 'standard')
  await presets.mount(other, 'minimal')
  presets.composeFrom(child, parent)
  expect([stranger, other, child].map((scope) => names(made, scope))).toEqual([[], ['beta'], ['alpha']])
  expect(presets.composedPreset(stranger)).toBeUndefined()
  await presets.leave(parent)
  // The declaring row, which started the rows of the generation, goes too.
  await withdraw(made, 'standard')
  expect([other, child].map((scope) => names(made, scope))).toEqual([['beta'], ['alpha']])
  await presets.leave(child)
  expect([names(made, child), names(made, other)]).toEqual([[], ['beta']])
})

test('F-15 a lease asked for during the first activation holds that generation after its withdrawal', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = plugin({ name: 'slow', apply: () => gate.promise })
  const catalog = { slow: { plane: 'preset' as const, load: async () => slow } }
  const made = await presetHost(declare('other', tool('alpha')), { catalog })
  const presets = presetsOf(made)
  const row = { entry: made.host.ctx.loader.resolve('host:declare-other'), baseUrl: undefined }
  const declared = presets.register({ id: 'slow', plugins: [{ id: 'slow', name: 'slow' }, rowOf('beta')] }, row)
  const pending = presets.acquireScope('slow')
  gate.resolve()
  const withdrawSlow = await declared
  const lease = await pending
  await withdrawSlow()
  expect([names(made, lease.key), presets.list().map(({ id }) => id)]).toEqual([['beta'], ['other']])
  await lease[Symbol.asyncDispose]()
  expect(presets.inspectCompositions().map(({ id }) => id)).toEqual(['other'])
})

test('C-11 a use that waits for a diagnosis moves to the replacement, or ends as not found', async () => {
  const busy = plugin({ name: 'busy', apply: () => new Promise<void>(() => {}) })
  const catalog = { busy: { plane: 'host' as const, load: async () => busy } }
  const late = '- {id: late, name: probe-needs-late}'
  const made = await presetHost(`${declare('a', late)}${declare('b', late)}`, { catalog, settleMs: 500 })
  const presets = presetsOf(made)
  void made.host.ctx.loader.create({ name: 'busy' })
  await new Promise(setImmediate)
  const replaced = presets.mount({}, 'a')
  const removed = codeOf(presets.mount({}, 'b'))
  await new Promise(setImmediate)
  await made.host.ctx.loader.update('host:declare-a', { config: { id: 'a', plugins: [rowOf('fresh')] } })
  await withdraw(made, 'b')
  expect([await replaced, await removed]).toEqual(['a', 'agent-preset/not-found'])
})

test('G-06 G-07 the document is the declaration, and the roster has one row while two revisions live', async () => {
  const made = await presetHost(declare('standard', tool('alpha')))
  const presets = presetsOf(made)
  await presets.mount({})
  await redeclare(made, 'standard', { id: 'standard', plugins: [rowOf('beta')] })
  const document = presets.readDocument('standard')
  expect(document.content).toContain('name: beta')
  const lease = await presets.acquireScope('standard')
  const dynamic = { spec: { name: 'dynamic', description: '', parameters: {} }, run: async () => text('') }
  made.host.service('tools')!.add(lease.key, dynamic)
  expect(names(made, lease.key)).toEqual(['beta', 'dynamic'])
  expect(presets.readDocument('standard')).toEqual(document)
  await lease[Symbol.asyncDispose]()
  expect([presets.list().length, presets.inspectCompositions().length]).toEqual([1, 2])
})

test('B-02 B-05 the row’s id addresses the entry, the config’s id the preset; unloading the row takes it back', async () => {
  const made = await presetHost(declare('standard', tool('alpha')).replace('id: declare-standard', 'id: my-row'))
  expect(presetsOf(made).list()).toEqual([{ id: 'standard' }])
  await removeRow(made, 'my-row')
  expect(presetsOf(made).list()).toEqual([])
})

test('B-01 an unknown or missing key of a declaration fails its row and names the key', async () => {
  const made = await presetHost(
    declare('one', tool('a'), 'colour: red') + '\n- {id: two, name: agent-preset, config: {id: two}}\n',
  )
  expect(made.host.report.rows).toMatchObject([
    { row: 'declare-one', cause: expect.stringContaining('colour') },
    { row: 'two', cause: expect.stringContaining('(at plugins)') },
  ])
})

test('H-15 a child of a switched session inherits the switched composition', async () => {
  const made = await presetHost(declare('standard', tool('alpha')) + declare('minimal', tool('beta')))
  const presets = presetsOf(made)
  const agent = testAgent('s1')
  await presets.mount(agent.scope, 'standard')
  await presets.select(agent, 'minimal')
  const child = {}
  expect([presets.composeFrom(child, agent.scope), names(made, child)]).toEqual(['minimal', ['beta']])
})

test('many redeclarations under users leave no generation, runtime or service behind', async () => {
  const made = await presetHost(declare('standard', ISOLATED))
  const presets = presetsOf(made)
  const { root } = made.host.ctx
  const count = () => [
    presets.inspectCompositions().length,
    [...root.registry.keys()].length,
    Object.getOwnPropertySymbols((root.reflect as unknown as { store: object }).store).length,
  ]
  const before = count()
  const { plugins } = made.host.ctx.loader.resolve('host:declare-standard').options.config as { plugins: unknown[] }
  for (let round = 0; round < 30; round++) {
    const scope = {}
    await presets.mount(scope)
    await redeclare(made, 'standard', { id: 'standard', name: `round ${round}`, plugins })
    await presets.leave(scope)
  }
  await presets.settled()
  expect(count()).toEqual(before)
})
