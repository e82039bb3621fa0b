import { expect, test } from 'vitest'
import { declare, presetHost, tool, withdraw } from '../boot-testing.ts'
import { plugin } from './kernel.ts'
import { scopeOf } from './scope-tag.ts'
import { text } from '../tool/tool.ts'
import type { Catalog } from './loader.ts'
import type { TestHost } from '../boot-testing.ts'

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!

/** A row that counts how often it lives, with every effect that it has taken back at its end. */
function counted(): { catalog: Catalog; live: () => number; mounts: () => number } {
  let live = 0
  let mounts = 0
  const row = plugin({
    name: 'counted',
    inject: ['tools'],
    apply(ctx) {
      mounts++
      const spec = { name: 'counted', description: '', parameters: { type: 'object' } }
      ctx.effect(() => ctx.tools.add(scopeOf(ctx) ?? null, { spec, run: async () => text('') }))
      ctx.effect(() => {
        live++
        return () => {
          live--
        }
      })
    },
  })
  return {
    catalog: { counted: { plane: 'preset', load: () => Promise.resolve(row) } },
    live: () => live,
    mounts: () => mounts,
  }
}

test('F-04 a thousand scopes share one mount; the last to leave a withdrawn preset takes its effects along', async () => {
  const { catalog, live, mounts } = counted()
  const made = await presetHost(declare('standard', '- {id: c, name: counted}'), { catalog })
  const presets = presetsOf(made)
  const scopes = Array.from({ length: 1000 }, () => ({}))
  await Promise.all(scopes.map((scope) => presets.mount(scope)))
  expect([mounts(), live(), presets.generations()[0]!.users]).toEqual([1, 1, 1000])
  const tools = made.host.service('tools')!
  expect(scopes.every((scope) => tools.view(scope)[0]?.spec.name === 'counted')).toBe(true)
  for (const scope of scopes.slice(0, 500)) await presets.leave(scope)
  expect([live(), presets.generations()[0]!.users]).toEqual([1, 500])
  await withdraw(made, 'standard')
  expect([live(), presets.list(), presets.generations()[0]!.retired]).toEqual([1, [], true])
  for (const scope of scopes.slice(500, 999)) await presets.leave(scope)
  expect([live(), presets.generations()[0]!.scopes]).toEqual([1, [scopes[999]]])
  await presets.leave(scopes[999]!)
  await presets.settled()
  expect([mounts(), live(), presets.generations()]).toEqual([1, 0, []])
})

test('F-03 a withdrawn declaration is gone from the table before its generation is retired, and retired before it is collected', async () => {
  const seen: unknown[] = []
  const watching = plugin({
    name: 'watching',
    apply(ctx) {
      return () => {
        const presets = ctx.agentPresets
        seen.push(['stopped', presets.list().length, presets.generations().length])
      }
    },
    inject: ['agentPresets'],
  })
  const catalog: Catalog = { watching: { plane: 'preset', load: () => Promise.resolve(watching) } }
  const made = await presetHost(declare('standard', '- {id: w, name: watching}'), { catalog })
  const presets = presetsOf(made)
  const scope = {}
  await presets.mount(scope)
  presets.onChange((change) => {
    if (change.kind === 'roster')
      seen.push([presets.list().length, presets.generations().map(({ retired, users }) => [retired, users])])
  })
  await withdraw(made, 'standard')
  expect(seen.at(-1)).toEqual([0, [[true, 1]]])
  expect(await presets.resolve('standard').catch((error: { code: string }) => error.code)).toBe(
    'agent-preset/not-found',
  )
  await presets.leave(scope)
  await presets.settled()
  // By the time its rows stop, nobody could find the generation any more.
  expect(seen.at(-1)).toEqual(['stopped', 0, 0])
})

test('C-10 a retired key of the registry is read under its new name, with a notice, and stays where it was written', async () => {
  const lines: string[] = []
  const host = declare('standard', tool('a')) + declare('minimal', tool('b'))
  const made = await presetHost(`${host}\n- {id: config-editor, name: config-editor}\n`, {
    log: (line) => lines.push(line),
  })
  await made.write(
    'data/user.cordis.yml',
    '# mine\n- id: agent-presets\n  config:\n    defaultPreset: minimal # as ever\n',
  )
  await made.host.reload()
  const presets = presetsOf(made)
  expect(await presets.resolve()).toEqual({ id: 'minimal' })
  expect(lines.join('\n')).toContain('the key defaultPreset is retired, write default')
  await presets.saveDefault('standard')
  const { readFile } = await import('node:fs/promises')
  const rewritten = await readFile(`${made.dataDir}/user.cordis.yml`, 'utf8')
  expect(rewritten).toContain('# mine')
  expect(rewritten).toContain('defaultPreset: minimal # as ever')
  expect(rewritten).toContain('selectedDefault: standard')
  expect(presets.defaultId()).toBe('standard')
  await presets.saveDefault(undefined)
  expect(presets.defaultId()).toBe('minimal')
})

test('a retired preset id finds its successor, also as the default, and the roster says so', async () => {
  const lines: string[] = []
  const made = await presetHost(declare('standard', tool('a')) + declare('ptc', tool('b')), {
    log: (line) => lines.push(line),
  })
  const presets = presetsOf(made)
  expect(presets.condition('ptc')).toEqual({ waiting: false, notices: [], own: false, file: expect.any(String) })
  await made.host.ctx.loader.update('host:agent-presets', { config: { default: 'standard', selectedDefault: 'code' } })
  expect(presets.defaultId()).toBe('ptc')
  expect(await presets.resolve('code')).toEqual({ id: 'ptc' })
  expect(await presets.resolve('code')).toEqual({ id: 'ptc' })
  expect(presets.condition('ptc').notices).toEqual(['the preset id code is retired, write ptc'])
  expect(lines.filter((line) => line.includes('code is retired'))).toHaveLength(1)
})

test('E-19 a clean mount is no sandbox: a row may act on the process later, and only its registrations stay inside', async () => {
  const row = plugin({
    name: 'reaching',
    inject: ['tools'],
    apply(ctx) {
      const spec = { name: 'reach', description: '', parameters: { type: 'object' } }
      const run = async () => {
        process.env['CORE_WEB_REACHED'] = 'yes'
        return text('done')
      }
      ctx.effect(() => ctx.tools.add(scopeOf(ctx) ?? null, { spec, run }))
    },
  })
  const catalog: Catalog = { reaching: { plane: 'preset', load: () => Promise.resolve(row) } }
  const made = await presetHost(declare('standard', '- {id: r, name: reaching}'), { catalog })
  const presets = presetsOf(made)
  expect(await presets.resolve('standard')).toEqual({ id: 'standard' })
  expect(presets.inspectCompositions()[0]!.leakedServices).toEqual([])
  const scope = {}
  await presets.mount(scope)
  const tools = made.host.service('tools')!
  await tools.view(scope)[0]!.run({}, {} as never)
  const reached = process.env['CORE_WEB_REACHED']
  delete process.env['CORE_WEB_REACHED']
  expect([reached, tools.view(null)]).toEqual(['yes', []])
})

test('a preset whose prompt cannot be put together is broken from the start, and says so', async () => {
  const rows = [1, 2].map((n) => `- {id: g${n}, name: second-complete, config: {name: "own:${n}"}}`)
  const row = plugin<{ name: string }>({
    name: 'second-complete',
    inject: ['systemPrompt'],
    config: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } },
    apply(ctx, { name }) {
      const spec = { name, order: 0, text: 'all', complete: true }
      ctx.effect(() => ctx.systemPrompt.section(scopeOf(ctx) ?? null, spec))
    },
  })
  const catalog: Catalog = { 'second-complete': { plane: 'preset', load: () => Promise.resolve(row) } }
  const presets = presetsOf(
    await presetHost(declare('standard', rows.join('\n')) + declare('fine', tool('a')), { catalog }),
  )
  expect(presets.list()).toEqual([
    { id: 'fine' },
    { id: 'standard', broken: expect.stringMatching(/cannot be put together: .*own:1, own:2/) },
  ])
  expect(presets.generations().map(({ preset }) => preset)).toEqual(['fine'])
})

test('a trial shows what a declaration would give and leaves nothing behind, whether it mounts, waits or fails', async () => {
  const { catalog, live, mounts } = counted()
  const made = await presetHost(declare('standard', tool('a')), { catalog })
  const presets = presetsOf(made)
  const { registry } = presets
  let notices = 0
  presets.onChange(() => notices++)
  const good = await registry.trial({ id: 'new', plugins: [{ id: 'c', name: 'counted' }] }, {})
  expect(good.broken).toBeUndefined()
  expect(good.rows).toEqual([{ id: 'c', name: 'counted', enabled: true, state: 'active' }])
  expect(good.dry?.tools.map(({ name }) => name)).toEqual(['counted'])
  expect([mounts(), live()]).toEqual([1, 0])
  const failing = await registry.trial(
    {
      id: 'new',
      plugins: [
        { id: 'c', name: 'counted' },
        { id: 'bad', name: 'probe-thrower' },
      ],
    },
    {},
  )
  expect(failing).toMatchObject({ broken: 'bad (probe-thrower): the probe gives up' })
  expect(failing.dry).toBeUndefined()
  const waiting = await registry.trial({ id: 'new', plugins: [{ id: 'w', name: 'probe-needs-late' }] }, {})
  expect(waiting).toMatchObject({ broken: 'w (probe-needs-late): waiting for exampleLateService' })
  expect(waiting.dry?.tools).toEqual([])
  expect(await registry.trial({ id: 'new', plugins: 3 as never }, {})).toEqual({
    rows: [],
    broken: 'plugins is not a list',
  })
  expect([live(), presets.list().map(({ id }) => id), presets.generations().length]).toEqual([0, ['standard'], 1])
  expect([registry.generationOf('new'), notices]).toEqual([0, 0])
})
