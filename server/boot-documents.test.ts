import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { watchRows } from './boot-watch.ts'
import { declare, shippedPresets, testFlags, tool } from './boot-testing.ts'
import { HostFile } from './preset/file.ts'
import type { Fiber } from '@deepseek-ai/cordis'
import type { TestHost } from './boot-testing.ts'
import './plugins/preset-library.ts'

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!
const libraryOf = ({ host }: TestHost) => host.service('presetLibrary')!
const ids = (made: TestHost) =>
  presetsOf(made)
    .list()
    .map(({ id }) => id)

const own = (name: string): string => declare(name, tool(name)).trimStart()

/** Watches the host's files; `until` resolves at the first reload after which the condition holds. */
function watched(made: TestHost) {
  const { host, rootDir, dataDir } = made
  const waiting = new Set<() => void>()
  let reloads = 0
  const stop = watchRows(host, { rootDir, dataDir, flags: testFlags(dataDir), env: {} }, () => {
    reloads++
    for (const look of waiting) look()
  })
  onTestFinished(stop)
  return {
    stop,
    reloads: () => reloads,
    until: (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (!holds()) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

const fileOf = ({ host }: TestHost, row: string): HostFile => {
  const { subtree } = host.ctx.loader.resolve(`host:${row}`)
  if (!(subtree instanceof HostFile)) throw new Error(`${row} is no include row`)
  return subtree
}

test('a document that is dropped into the folder appears at once, and goes with its file', async () => {
  const made = await shippedPresets()
  const { until } = watched(made)
  const path = join(made.dataDir, 'presets', 'dropped.yml')
  await writeFile(path, own('dropped'))
  await until(() => ids(made).includes('dropped'))
  const scope = {}
  await presetsOf(made).mount(scope, 'dropped')
  await rm(path)
  await until(() => !ids(made).includes('dropped'))
  expect(made.host.service('tools')!.view(scope)).toHaveLength(1)
})

test('a document that appears and disappears every 10 ms neither crashes the host nor leaves anything behind', async () => {
  const made = await shippedPresets()
  const { host, dataDir } = made
  const before = { fibers: fibersOf(host.ctx.fiber), compositions: presetsOf(made).inspectCompositions().length }
  const { until, reloads } = watched(made)
  const path = join(dataDir, 'presets', 'flapping.yml')
  const flapped = Promise.withResolvers<void>()
  let flips = 0
  const timer = setInterval(() => {
    const there = flips % 2 === 0
    const flip = there ? writeFile(path, own('flapping')) : rm(path, { force: true })
    if (++flips < 200) return
    clearInterval(timer)
    flip.then(flapped.resolve, flapped.reject)
  }, 10)
  onTestFinished(() => clearInterval(timer))
  await flapped.promise
  // It never was quiet, and was looked at all the same.
  expect(reloads()).toBeGreaterThan(1)
  await writeFile(path, own('flapping'))
  await until(() => ids(made).includes('flapping'))
  await rm(path)
  await until(() => !ids(made).includes('flapping'))
  await host.reload()
  await presetsOf(made).settled()
  expect(ids(made)).toEqual(['standard', 'minimal'])
  expect({
    fibers: fibersOf(host.ctx.fiber),
    compositions: presetsOf(made).inspectCompositions().length,
  }).toEqual(before)
  expect(host.report).toMatchObject({ rows: [], presets: [], skipped: [], notices: [] })
})

/** Live plugin instances of a host. */
const fibersOf = ({ ctx }: Fiber): number => {
  const runtimes = [...ctx.registry.values()]
  return runtimes.reduce((sum, runtime) => sum + [...runtime.fibers].length, 0)
}

test.for([
  ['does not parse', '- id: x\n  name: [agent-preset\n', 3, /Flow|unexpected/i],
  ['is a map', 'id: x\n', undefined, /not a list/],
  ['declares nothing', '[]\n', undefined, /declares no preset/],
  ['declares without rows', '# comment\n- id: x\n  name: agent-preset\n  config: {id: own}\n', 2, /plugins/],
  [
    'has an unknown key',
    '# comment\n- id: x\n  name: agent-preset\n  config: {id: own, titel: x, plugins: []}\n',
    2,
    /titel/,
  ],
  [
    'has a row that is none',
    '\n- id: x\n  name: agent-preset\n  config: {id: own, plugins: [hello]}\n',
    2,
    /row 1 is not a map/,
  ],
  ['is an alias bomb', bomb(), undefined, /more than 20000 values/],
  ['is huge', `# ${'x'.repeat(300_000)}\n`, undefined, /256 KiB/],
] as const)(
  'B-13 a document that %s keeps its last good preset, and says what is wrong until it is mended',
  async ([, text, line, message]) => {
    const made = await shippedPresets({}, { 'data/presets/own.yml': own('own') })
    const path = join(made.dataDir, 'presets', 'own.yml')
    await writeFile(path, text)
    await made.host.reload()
    const file = fileOf(made, 'preset-own')
    expect(file.fault).toMatchObject({ message: expect.stringMatching(message) as string, ...(line && { line }) })
    expect(made.host.report.notices).toEqual([
      expect.stringContaining(`${path}${line ? `:${line}` : ''} could not be reloaded, the running rows stay`),
    ])
    expect((await presetsOf(made).describe('own')).tools.map(({ name }) => name)).toEqual(['own'])
    expect(libraryOf(made).problems()).toEqual([])
    // The next look says it again; it is still so.
    await made.host.reload()
    expect(made.host.report.notices).toHaveLength(1)
    await writeFile(path, declare('own', tool('mended')).trimStart())
    await made.host.reload()
    expect([file.fault, made.host.report.notices]).toEqual([undefined, []])
    expect((await presetsOf(made).describe('own')).tools.map(({ name }) => name)).toEqual(['mended'])
  },
)

function bomb(): string {
  const lines = ['- &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let index = 1; index < 9; index++) lines.push(`- &a${index} [${`*a${index - 1}, `.repeat(10)}]`)
  return lines.join('\n')
}

test('a document that never parsed is shown by the name of its file, with the line, and heals when it is mended', async () => {
  const heard: string[][] = []
  const made = await shippedPresets({}, { 'data/presets/torn.yml': '- id: x\n  name: [agent-preset\n' })
  const library = libraryOf(made)
  library.onChange(() => heard.push(library.problems().map(({ id }) => id)))
  expect(library.problems()).toMatchObject([{ id: 'torn', reason: expect.stringMatching(/^torn\.yml:3: /) }])
  expect(made.host.report.rows).toMatchObject([
    { file: join(made.dataDir, 'presets/torn.yml'), line: 3, row: 'preset-torn', plugin: 'cordis:include' },
  ])
  expect(ids(made)).toEqual(['standard', 'minimal'])
  await writeFile(join(made.dataDir, 'presets/torn.yml'), own('torn'))
  await made.host.reload()
  expect([library.problems(), made.host.report.rows, ids(made)]).toEqual([[], [], ['standard', 'minimal', 'torn']])
  expect(heard.at(-1)).toEqual([])
})

test.for([
  ['an unknown key', '- {id: x, name: agent-preset, config: {id: odd, titel: x, plugins: []}}', 'odd', /titel/],
  ['no preset', '- {id: x, name: agent-presett}', 'odd', /agent-presett/],
  ['an id that a shipped preset has', declare('minimal', tool('x')), 'odd', /already declared/],
] as const)('a document with %s is a broken row of its own and no other is concerned', async ([, text, id, reason]) => {
  const made = await shippedPresets({}, { 'data/presets/odd.yml': text, 'data/presets/fine.yml': own('fine') })
  expect(libraryOf(made).problems()).toEqual([
    expect.objectContaining({ id, reason: expect.stringMatching(reason) as string }),
  ])
  expect(ids(made)).toEqual(['standard', 'minimal', 'fine'])
  expect(
    presetsOf(made)
      .list()
      .every(({ broken }) => broken === undefined),
  ).toBe(true)
})

test('a broken document by the name of a shipped preset does not take its place', async () => {
  const made = await shippedPresets({}, { 'data/presets/minimal.yml': 'oh: no' })
  expect(libraryOf(made).problems()).toMatchObject([{ id: 'minimal.yml' }])
  expect((await presetsOf(made).describe('minimal')).tools.length).toBeGreaterThan(0)
})

test('a document that is saved by rename, and one that is renamed, are followed', async () => {
  const made = await shippedPresets()
  const { until } = watched(made)
  const folder = join(made.dataDir, 'presets')
  await mkdir(join(made.rootDir, 'aside'))
  await writeFile(join(made.rootDir, 'aside/one.yml'), own('one'))
  await rename(join(made.rootDir, 'aside/one.yml'), join(folder, 'one.yml'))
  await until(() => ids(made).includes('one'))
  await rename(join(folder, 'one.yml'), join(folder, 'uno.yml'))
  await until(
    () =>
      made.host.report.rows.length === 0 &&
      ids(made).includes('one') &&
      made.host.ctx.loader.resolve('host').subtree?.store['preset-uno'] !== undefined,
  )
  expect(libraryOf(made).problems()).toEqual([])
})

test.for([
  '<img src=x onerror=alert(1)>',
  'a:b',
  'ü 你 💥',
  '%2e%2e',
  "it's",
  '__proto__',
  'constructor',
  'x'.repeat(240),
])('a document in a file named %s is a preset, and a broken one is named', async (name) => {
  const made = await shippedPresets({}, { [`data/presets/${name}.yml`]: own('odd-file') })
  expect(ids(made)).toContain('odd-file')
  const path = join(made.dataDir, 'presets', `${name}.yml`)
  const library = libraryOf(made)
  expect(await library.source('odd-file')).toMatchObject({ own: true, file: path })
  await library.describe('odd-file', { name: '<b>"&amp;\u202e' })
  expect(presetsOf(made).list().at(-1)).toEqual({ id: 'odd-file', name: '<b>"&amp;\u202e' })
  expect(await library.delete('odd-file')).toMatchObject({ preset: 'odd-file' })
  await writeFile(path, '- {id: [')
  await made.host.reload()
  expect(library.problems()).toMatchObject([{ id: name }])
  expect(await library.delete(name)).toEqual({ preset: name, text: '- {id: [' })
  expect([library.problems(), ids(made)]).toEqual([[], ['standard', 'minimal']])
})
