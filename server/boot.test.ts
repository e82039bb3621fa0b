import { writeFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { HOST_FILE } from './boot.ts'
import { dumpConfig } from './boot-dump.ts'
import { reportText } from './boot-report.ts'
import { watchRows } from './boot-watch.ts'
import {
  CORE_ROWS,
  REGISTRY_ROW,
  declare,
  presetHost,
  shippedPresets,
  testFlags,
  testHost,
  tool,
} from './boot-testing.ts'
import { plugin } from './preset/kernel.ts'
import type { TestHost } from './boot-testing.ts'
import type { CatalogEntry } from './preset/loader.ts'

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!
const hostRow = (apply: () => void | (() => void | Promise<void>) | Promise<void>, name = 'probe'): CatalogEntry => {
  const made = plugin({ name, apply })
  return { plane: 'host', load: async () => made }
}

test('B-10 a patch reaches a row of an included preset and changes its declaration and its agents', async () => {
  const before = await shippedPresets()
  const patched = await shippedPresets({
    patches: [{ id: 'preset-minimal:persona', config: { prefix: 'Patched.', complete: true } }],
  })
  const digests = await Promise.all(
    [before, patched].map(async (made) => {
      const scope = {}
      await presetsOf(made).mount(scope, 'minimal')
      return presetsOf(made).declarationDigest(scope)
    }),
  )
  expect(digests[0]).not.toBe(digests[1])
  const { sections } = await presetsOf(patched).describe('minimal')
  expect(sections.flatMap(({ fate, text }) => (fate === 'shown' ? [text] : []))).toEqual(['Patched.'])
  expect((await presetsOf(patched).describe('standard')).sections.length).toBeGreaterThan(1)
  expect(patched.host.report).toMatchObject({ rows: [], skipped: [], notices: [] })
})

test.for([
  ['through the declaring row', 'preset-minimal:minimal:bash'],
  ['through the document alone', 'preset-minimal:bash'],
])('a patch addresses a row inside a group of a preset %s', async ([, id]) => {
  const made = await shippedPresets({ patches: [{ id: id!, disabled: true }] })
  expect((await presetsOf(made).describe('minimal')).tools.map(({ name }) => name)).toEqual(['str_replace_editor'])
})

test('a patch inserts a model-facing row into a preset of an included document', async () => {
  const insert = [{ id: 'extra', name: 'probe-tool', config: { name: 'extra' } }]
  const made = await shippedPresets({ patches: [{ id: 'preset-minimal:filesystem', insert }] })
  const { tools } = await presetsOf(made).describe('minimal')
  expect(tools.map(({ name }) => name)).toEqual(['bash', 'extra', 'str_replace_editor'])
})

test('O-01 a model-facing row in the host file is refused by name, with its file and line', async () => {
  const { host, rootDir } = await testHost({ [HOST_FILE]: `${CORE_ROWS}\n- id: my-tool\n  name: tool-bash\n` })
  const [row] = host.report.rows
  expect(row).toMatchObject({ file: join(rootDir, HOST_FILE), row: 'my-tool', plugin: 'tool-bash' })
  expect(row?.line).toBe(13)
  expect(row?.cause).toContain('only a preset may carry it')
  expect(host.service('tools')!.view(null)).toEqual([])
})

test('O-01 a patch with a model-facing row at host level is left out as a whole', async () => {
  const made = await testHost({ [HOST_FILE]: CORE_ROWS, 'data/user.cordis.yml': USER_PATCH_WITH_TOOL })
  expect(made.host.report.skipped).toEqual([
    { file: join(made.dataDir, 'user.cordis.yml'), line: 6, cause: expect.stringContaining('row sneaky (persona)') },
  ])
  expect(made.host.ctx.loader.resolve('host:hooks').disabled).toBe(false)
})
const USER_PATCH_WITH_TOOL = `- id: hooks
  disabled: true
- insert:
    - name: cordis:group
      config:
        - {id: sneaky, name: persona, config: {prefix: x}}
`

test('a host row inside a preset is refused', async () => {
  const made = await presetHost(declare('standard', '- {id: store, name: scopes}'))
  expect(presetsOf(made).list()[0]?.broken).toBe('store (scopes): scopes is a host row; a preset may not carry it')
})

test('a broken user patch is reported with its line and nothing of it applies', async () => {
  const made = await testHost({
    [HOST_FILE]: CORE_ROWS,
    'data/user.cordis.yml': '- id: hooks\n  disabled: true\n- {id: [\n',
  })
  expect(made.host.report.skipped).toMatchObject([{ file: join(made.dataDir, 'user.cordis.yml'), line: 4 }])
  expect(made.host.service('hooks')).toBeDefined()
})

test('layers apply in order: the user first, then each --patch file; a missing one is reported', async () => {
  const files = {
    [HOST_FILE]:
      CORE_ROWS + REGISTRY_ROW + declare('one', tool('a')) + declare('two', tool('b')) + declare('three', tool('c')),
    'data/user.cordis.yml': '- {id: agent-presets, config: {default: one}}',
    'first.yml': '- {id: agent-presets, config: {default: two}}',
    'second.yml': '- {id: agent-presets, config: {default: three}}\n- {id: ghost, disabled: true}',
  }
  const made = await testHost(files)
  expect(presetsOf(made).defaultId()).toBe('one')
  const patch = ['first.yml', 'second.yml', 'absent.yml'].map((name) => join(made.rootDir, name))
  const later = await testHost(files, { flags: testFlags(made.dataDir, { patch }) })
  expect(presetsOf(later).defaultId()).toBe('three')
  expect(later.host.report.skipped).toEqual([{ file: patch[2], cause: 'the file does not exist' }])
  expect(later.host.report.notices).toEqual([`${patch[1]}: patch: entry ghost not found`])
})

test('every row that cannot start is reported with file, row, plugin and cause, and the rest runs', async () => {
  const file = `${CORE_ROWS}
- id: throws
  name: thrower
- id: waits
  name: waiter
- id: nowhere
  name: no-such-plugin
`
  const waiter = plugin({ name: 'waiter', inject: ['missingService' as 'tools'], apply() {} })
  const { host, rootDir } = await testHost(
    { [HOST_FILE]: file },
    {
      catalog: {
        thrower: hostRow(() => {
          throw new Error('no luck')
        }),
        waiter: { plane: 'host', load: async () => waiter },
      },
    },
  )
  const at = { file: join(rootDir, HOST_FILE) }
  expect(host.report.rows).toMatchObject([
    { ...at, row: 'throws', plugin: 'thrower', cause: 'no luck' },
    { ...at, row: 'waits', plugin: 'waiter', cause: 'waiting for missingService' },
    { ...at, row: 'nowhere', plugin: 'no-such-plugin', cause: expect.stringContaining('cannot import no-such-plugin') },
  ])
  expect(host.report.fatal).toEqual([])
  expect(host.service('tools')).toBeDefined()
  expect(reportText(host.report)).toContain(`row throws (thrower) could not start, ${at.file}:`)
})

test('a required row that cannot start is fatal', async () => {
  const { host } = await testHost({ [HOST_FILE]: '- {id: llm, name: thrower}' }, { catalog: { thrower: THROWER } })
  expect(host.report.fatal).toEqual(['llm'])
})
const THROWER = hostRow(() => {
  throw new Error('no luck')
})

test('an unreadable document is skipped and reported, the others stand', async () => {
  const file = `${CORE_ROWS}${REGISTRY_ROW}${declare('standard', tool('alpha'))}
- {id: preset-gone, name: cordis:include, config: {path: presets/gone.yml}}
- {id: preset-bad, name: cordis:include, config: {path: presets/bad.yml}}
`
  const made = await testHost({ [HOST_FILE]: file, 'presets/bad.yml': 'a: 1\n' })
  expect(made.host.report.rows.map(({ row }) => row)).toEqual(['preset-gone', 'preset-bad'])
  expect(presetsOf(made).list()).toEqual([{ id: 'standard' }])
})

test('the user’s own preset documents are included, also under an id that a shipped one has', async () => {
  const own = declare('own', tool('mine'))
  const made = await shippedPresets(
    {},
    { 'data/presets/own.yml': own, 'data/presets/minimal.yml': declare('mine', tool('x')) },
  )
  expect(
    presetsOf(made)
      .list()
      .map(({ id }) => id),
  ).toEqual(['standard', 'minimal', 'mine', 'own'])
})

test('a duplicate id is an error that names it', async () => {
  const { host } = await testHost({ [HOST_FILE]: '- {id: a, name: scopes}\n- {id: a, name: scopes}' })
  expect(host.report.rows).toMatchObject([{ row: 'host', cause: expect.stringContaining('two rows have the id a') }])
  expect(host.report.fatal).toEqual(['host'])
})

test('a row whose activation never ends is reported as still starting, and closing does not hang', async () => {
  const { host } = await testHost(
    { [HOST_FILE]: `${CORE_ROWS}\n- {id: stuck, name: stuck}` },
    { catalog: { stuck: hostRow(() => new Promise(() => {})) }, settleMs: 200 },
  )
  expect(host.report.rows).toMatchObject([{ row: 'stuck', cause: 'still starting' }])
})

test('a reload applies a changed user patch in place, keeps what did not change, and writes no file', async () => {
  const made = await testHost({ [HOST_FILE]: CORE_ROWS + REGISTRY_ROW + declare('standard', tool('alpha')) })
  const { loader } = made.host.ctx
  const fibers = ['scopes', 'tool-registry', 'agent-presets'].map((id) => loader.resolve(`host:${id}`).fiber)
  await mkdir(made.dataDir, { recursive: true })
  await writeFile(
    join(made.dataDir, 'user.cordis.yml'),
    '- {id: agent-presets, config: {default: standard, selectedDefault: x}}',
  )
  await made.host.reload()
  expect(presetsOf(made).defaultId()).toBe('x')
  expect(['scopes', 'tool-registry', 'agent-presets'].map((id) => loader.resolve(`host:${id}`).fiber)).toEqual(fibers)
})

test('a reload that changes the plugin of a row stops the old one', async () => {
  const stopped: string[] = []
  const catalog = {
    first: hostRow(() => () => void stopped.push('first'), 'first'),
    second: hostRow(() => {}, 'second'),
  }
  const made = await testHost({ [HOST_FILE]: '- {id: row, name: first}' }, { catalog })
  await made.write(HOST_FILE, '- {id: row, name: second}')
  const file = made.host.ctx.loader.resolve('host').subtree as unknown as { refresh(): Promise<void> }
  await file.refresh()
  expect(stopped).toEqual(['first'])
  expect(made.host.ctx.loader.resolve('host:row').fiber?.name).toBe('second')
})

test('a config change that makes a row throw does not end the process, and the error is kept', async () => {
  let calls = 0
  const moody = plugin({
    name: 'moody',
    config: z.strictObject({ a: z.number() }),
    apply() {
      if (++calls > 1) throw new Error('not like this')
    },
  })
  const catalog: Record<string, CatalogEntry> = { moody: { plane: 'host', load: async () => moody } }
  const made = await testHost({ [HOST_FILE]: '- {id: row, name: moody, config: {a: 1}}' }, { catalog })
  await writeFile(join(made.dataDir, 'user.cordis.yml'), '- {id: row, config: {a: 2}}')
  const report = await made.host.reload()
  expect(report.rows).toMatchObject([{ row: 'row', cause: 'not like this' }])
})

test('the dump shows the effective rows of all files with their expressions', async () => {
  const made = await testHost({
    [HOST_FILE]: `- {id: a, name: scopes, disabled: !!js "1 > 2"}\n- {id: inc, name: cordis:include, config: {path: doc.yml}}\n`,
    'doc.yml': '- {id: b, name: hooks}\n',
    'data/user.cordis.yml': '- {id: "inc:b", disabled: true}\n- {id: a, config: {x: 1}}\n',
  })
  const { dataDir, rootDir } = made
  const { text, warnings } = await dumpConfig({ rootDir, dataDir, flags: testFlags(dataDir), env: {} })
  expect(warnings).toEqual([])
  expect(text).toBe(`# core-web.cordis.yml
- id: a
  name: scopes
  disabled: !!js 1 > 2
  config:
    x: 1
- id: inc
  name: cordis:include
  config:
    path: doc.yml
---
# doc.yml
- id: b
  name: hooks
  disabled: true
`)
})

test('closing a host leaves no service behind', async () => {
  const made = await presetHost(declare('standard', tool('alpha')))
  await made.host.close()
  expect(['tools', 'agentPresets', 'scopes'].map((name) => made.host.service(name))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('a saved preset document becomes a new revision, and a broken save keeps the last good one', async () => {
  const document = (name: string) => declare('standard', tool(name)).trim()
  const rows = `${CORE_ROWS}${REGISTRY_ROW}- {id: preset-standard, name: cordis:include, config: {path: presets/standard.yml}}`
  const made = await testHost({ [HOST_FILE]: rows, 'presets/standard.yml': document('before') })
  const { rootDir, dataDir } = made
  const reloaded = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = watchRows(made.host, { rootDir, dataDir, flags: testFlags(dataDir), env: {} }, () => {
      stop()
      resolve()
    })
    return promise
  }
  const old = {}
  await presetsOf(made).mount(old)
  let next = reloaded()
  await made.write('presets/standard.yml', document('after'))
  await next
  const namesOf = (scope: object) =>
    made.host
      .service('tools')!
      .view(scope)
      .map(({ spec }) => spec.name)
  const fresh = {}
  await presetsOf(made).mount(fresh)
  expect([namesOf(old), namesOf(fresh)]).toEqual([['before'], ['after']])
  next = reloaded()
  await made.write('presets/standard.yml', '- {id: [\n')
  await next
  expect(made.host.report.notices).toEqual([expect.stringContaining('could not be reloaded, the running rows stay')])
  expect(await presetsOf(made).resolve()).toEqual({ id: 'standard' })
})

test('a broken preset is in the report and does not keep the host from starting', async () => {
  const { host } = await presetHost(declare('broken', '- {id: bad, name: probe-thrower}'))
  expect(host.report).toMatchObject({
    rows: [],
    presets: [{ id: 'broken', broken: 'bad (probe-thrower): the probe gives up' }],
  })
  expect(reportText(host.report)).toBe('preset broken cannot be used: bad (probe-thrower): the probe gives up')
})

test.for([
  ['with a main file', '{"name": "row-plugin", "main": "index.js", "type": "module"}'],
  ['that can only be imported', '{"name": "row-plugin", "type": "module", "exports": {".": {"import": "./index.js"}}}'],
])('a row names an installed package %s, found from the document', async ([, manifest]) => {
  const made = await testHost({
    [HOST_FILE]: '- {id: inc, name: cordis:include, config: {path: far/doc.yml}}',
    'far/doc.yml': '- {id: row, name: row-plugin}',
    'far/node_modules/row-plugin/package.json': manifest!,
    'far/node_modules/row-plugin/index.js':
      "export default { name: 'row', apply: async (ctx) => { ctx.provide('fromPackage', 7) } }",
  })
  expect([made.host.report.rows, made.host.service('fromPackage')]).toEqual([[], 7])
})

test('a retired key is read under its new name with a notice, any other unknown key is an error', async () => {
  const lines: string[] = []
  const persona = (config: string) => `- {id: persona, name: persona, config: ${config}}`
  const made = await presetHost(
    declare('old', persona('{text: hello}')) + declare('odd', persona('{prefix: x, colour: red}')),
    {
      log: (line) => lines.push(line),
    },
  )
  const [odd, old] = presetsOf(made).list()
  expect(old).toEqual({ id: 'old' })
  expect((await presetsOf(made).describe('old')).sections).toContainEqual(
    expect.objectContaining({ owner: 'persona', fate: 'shown', text: 'hello' }),
  )
  expect(presetsOf(made).condition('old').notices).toEqual(['row persona: the key text is retired, write prefix'])
  expect(presetsOf(made).condition('odd').notices).toEqual([])
  expect(lines.join('\n')).toContain('the key text is retired, write prefix')
  expect(odd?.broken).toMatch(/persona \(persona\): invalid config:.*colour/s)
})

test('rows close from the last to the first, and one that hangs does not keep the others from closing', async () => {
  const closed: string[] = []
  const catalog = {
    first: hostRow(() => () => void closed.push('first'), 'first'),
    hangs: hostRow(() => () => new Promise<void>(() => {}), 'hangs'),
    last: hostRow(() => () => void closed.push('last'), 'last'),
  }
  const rows = ['first', 'hangs', 'last'].map((name) => `- {id: ${name}, name: ${name}}\n`).join('')
  const { host } = await testHost({ [HOST_FILE]: rows }, { catalog, settleMs: 4500 })
  await host.close()
  expect(closed).toEqual(['last', 'first'])
})
