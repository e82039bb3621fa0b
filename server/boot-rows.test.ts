import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { HOST_FILE, boot } from './boot.ts'
import { reportText } from './boot-report.ts'
import {
  CORE_ROWS,
  LIBRARY_ROW,
  REGISTRY_ROW,
  declare,
  shippedPresets,
  testFlags,
  testHost,
  tool,
} from './boot-testing.ts'
import type { TestHost } from './boot-testing.ts'

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!
const ids = (made: TestHost) =>
  presetsOf(made)
    .list()
    .map(({ id }) => id)
const own = (name: string): string => declare(name, tool(name)).trimStart()

test('a host row with a key that no row has does not start, is named with its line, and the others run', async () => {
  const { host, rootDir } = await testHost({ [HOST_FILE]: `${CORE_ROWS}- id: odd\n  name: hooks\n  confg: 1\n` })
  expect(host.report.rows).toEqual([
    {
      file: join(rootDir, HOST_FILE),
      line: 12,
      row: 'odd',
      plugin: 'hooks',
      cause: 'unknown key confg (did you mean config?)',
    },
  ])
  expect(reportText(host.report)).toContain(`${HOST_FILE}:12: unknown key confg`)
  expect(host.service('tools')).toBeDefined()
})

test('a host row with an unknown key in its config is an error that names key, row, file and line', async () => {
  const rows = `${CORE_ROWS}${REGISTRY_ROW}${LIBRARY_ROW}- id: db\n  name: data-folder\n  config: {colour: red}\n`
  const { host, rootDir } = await testHost({ [HOST_FILE]: rows })
  expect(host.report.rows).toMatchObject([
    { file: join(rootDir, HOST_FILE), line: 19, row: 'db', cause: expect.stringContaining('colour') },
  ])
})

test('O-01 a --patch that puts a model-facing row at host level is left out, by file, row and line', async () => {
  const files = {
    [HOST_FILE]: CORE_ROWS,
    'extra.yml': '- id: hooks\n  disabled: true\n- insert:\n    - id: sly\n      name: tool-fs\n',
  }
  const first = await testHost(files)
  const patch = [join(first.rootDir, 'extra.yml')]
  const made = await testHost(files, { flags: testFlags(first.dataDir, { patch }) })
  expect(made.host.report.skipped).toEqual([
    { file: patch[0], line: 4, cause: expect.stringContaining('row sly (tool-fs): tool-fs is a model-facing row') },
  ])
  expect(reportText(made.host.report)).toContain('extra.yml:4')
  expect(made.host.service('hooks')).toBeDefined()
})

test('O-01 a host row in a preset breaks that preset alone, by name', async () => {
  const made = await shippedPresets(
    {},
    { 'data/presets/own.yml': declare('own', '- {id: store, name: session-store}') },
  )
  expect(made.host.report.presets).toMatchObject([
    { id: 'own', broken: expect.stringContaining('session-store is a host row') },
  ])
  expect(ids(made)).toHaveLength(3)
})

test('B-07 a broken preset says file and line of the row or key that is wrong, in the roster and in the report', async () => {
  const rows = `- id: group
  name: cordis:group
  config:
    - id: persona
      name: persona
      config:
        prefix: x
        colour: red
    - {id: files, name: tool-fs, config: {x: 1}}`
  const made = await shippedPresets(
    {},
    {
      'data/presets/keys.yml': declare('keys', rows),
      'data/presets/shape.yml': declare('shape', '- {id: a, name: tool-fs}\n- {id: b, name: tool-todo, confg: 1}'),
    },
  )
  const brokenOf = (id: string) =>
    presetsOf(made)
      .list()
      .find((row) => row.id === id)?.broken
  expect(brokenOf('keys')).toBe(
    `persona (persona): invalid config:
  - Unrecognized key: "colour" (keys.yml:14)
files (tool-fs): invalid config:
  - Unrecognized key: "x" (keys.yml:15)`,
  )
  expect(brokenOf('shape')).toBe('row 2 (tool-todo): unknown key confg (did you mean config?) (shape.yml:8)')
  expect(reportText(made.host.report)).toContain('"colour" (keys.yml:14)')
})

test('every shipped preset is mounted against the shipped host, with every row of it running', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'core-web-data-'))
  const rootDir = join(import.meta.dirname, '..')
  const host = await boot({ rootDir, dataDir, flags: testFlags(dataDir), env: { HOME: dataDir } })
  onTestFinished(async () => {
    await host.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  expect(reportText(host.report)).toBe('')
  const presets = host.service('agentPresets')!
  await presets.settled()
  const shipped = (await readdir(join(rootDir, 'presets'))).map((name) => name.replace(/\.yml$/, ''))
  expect(
    presets
      .list()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(shipped.toSorted())
  for (const id of shipped) {
    expect(await presets.resolve(id)).toEqual({ id })
    expect(presets.inventory(id).filter(({ state }) => state !== 'active')).toEqual([])
    expect((await presets.describe(id)).tools.length).toBeGreaterThan(0)
  }
  expect(presets.inspectCompositions().map(({ leakedServices }) => leakedServices)).toEqual(shipped.map(() => []))
})

test('3.2: a user patch and a --patch reach rows inside included documents, the later one wins, and a reload takes them back', async () => {
  const user = '- {id: "preset-minimal:persona", config: {prefix: From the user., complete: true}}\n'
  const later = '- {id: "preset-minimal:persona", config: {prefix: From the command line., complete: true}}\n'
  const first = await shippedPresets({}, { 'later.yml': later, 'data/user.cordis.yml': user })
  const promptOf = async (made: TestHost) =>
    (await presetsOf(made).describe('minimal')).sections.flatMap(({ fate, text }) => (fate === 'shown' ? [text] : []))
  expect(await promptOf(first)).toEqual(['From the user.'])
  const flags = testFlags(first.dataDir, { patch: [join(first.rootDir, 'later.yml')] })
  const second = await shippedPresets({ flags }, { 'data/user.cordis.yml': user })
  expect(await promptOf(second)).toEqual(['From the command line.'])
  await rm(join(first.dataDir, 'user.cordis.yml'))
  await first.host.reload()
  expect(await promptOf(first)).toEqual(['You are a helpful software engineer assistant.'])
})

test('a patch reaches the rows of an own document too, and a bad one leaves it as it is', async () => {
  const made = await shippedPresets(
    {},
    {
      'data/presets/own.yml': own('own'),
      'data/user.cordis.yml':
        '- {id: "preset-own:own", config: {name: patched}}\n- {id: "preset-own:ghost", disabled: true}\n',
    },
  )
  expect((await presetsOf(made).describe('own')).tools.map(({ name }) => name)).toEqual(['patched'])
  expect(made.host.report.notices).toEqual([expect.stringContaining('ghost')])
})

test('B-11 another composition declares other presets, and needs none of the shipped ones', async () => {
  const rows = `${CORE_ROWS}${REGISTRY_ROW.replace('standard', 'only')}${declare('only', tool('alpha'))}`
  const made = await testHost({ [HOST_FILE]: rows })
  expect([ids(made), await presetsOf(made).resolve()]).toEqual([['only'], { id: 'only' }])
})
