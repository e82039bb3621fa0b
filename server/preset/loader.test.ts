import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { HOST_FILE } from '../boot.ts'
import { CORE_ROWS, testHost } from '../boot-testing.ts'
import { importError, importer, planeProblem, standIn } from './loader.ts'
import { plugin } from './kernel.ts'
import type { Catalog, HostLoader } from './loader.ts'

const entry = (plane: 'host' | 'preset' | 'any', value: unknown) => ({
  plane,
  load: () => Promise.resolve(value),
})

const CATALOG: Catalog = { store: entry('host', {}), persona: entry('preset', {}), group: entry('any', {}) }
const FOR_PRESETS = 'is a model-facing row; only a preset may carry it, not the host file or a patch at host level'

test.for([
  ['store', 'host', undefined],
  ['store', 'preset', 'store is a host row; a preset may not carry it'],
  ['persona', 'host', `persona ${FOR_PRESETS}`],
  ['persona', 'preset', undefined],
  ['group', 'host', undefined],
  ['group', 'preset', undefined],
  ['unheard-of', 'host', undefined],
  ['toString', 'preset', undefined],
] as const)('a row %s on the plane %s', ([name, plane, problem]) => {
  expect(planeProblem(CATALOG, name, plane)).toBe(problem)
})

/** What the stand-in of a module that cannot be had throws; undefined for a real plugin. */
async function reasonOf(loaded: Promise<unknown>): Promise<Error | undefined> {
  const { apply } = (await loaded) as { apply?: () => void }
  const reason = importError(apply)
  if (reason) expect(apply).toThrow(reason)
  return reason
}

test('a stand-in throws its reason, with the cause, and is known as one', () => {
  const cause = new Error('deep')
  const { name, apply } = standIn('x', 'it cannot be', cause)
  expect(name).toBe('x')
  expect(apply).toThrow(expect.objectContaining({ message: 'it cannot be', cause }))
  expect(importError(apply)).toMatchObject({ message: 'it cannot be', cause })
  expect([importError(undefined), importError(() => {})]).toEqual([undefined, undefined])
})

describe('from the catalog', () => {
  const load = (value: unknown, plane: 'host' | 'preset' = 'preset') =>
    importer({ x: entry('preset', value) })('x', undefined, plane)
  const apply = (): void => {}

  test.for([
    ['a function', apply, apply],
    ['an object with apply', { apply }, { apply }],
    ['a module with a default', { default: { apply }, other: 1 }, { apply }],
  ] as const)('%s is a plugin', async ([, value, found]) => {
    expect(await load(value)).toEqual(found)
  })

  test.for([
    ['a text', 'text'],
    ['a number', 3],
    ['nothing', undefined],
    ['null', null],
    ['an object', { name: 'x' }],
    ['an object whose apply is no function', { apply: 'later' }],
    ['a default that is none', { default: 1, apply }],
  ])('%s is none', async ([, value]) => {
    expect(await reasonOf(load(value))).toMatchObject({ message: 'cannot import x: the module exports no plugin' })
  })

  test('a row on the wrong plane is not even loaded', async () => {
    let loads = 0
    const catalog: Catalog = { x: { plane: 'preset', load: async () => void loads++ } }
    expect(await reasonOf(importer(catalog)('x', undefined, 'host'))).toMatchObject({ message: `x ${FOR_PRESETS}` })
    expect(loads).toBe(0)
  })

  test('a module that fails to load says why', async () => {
    const cause = new Error('a torn file')
    const catalog: Catalog = { x: { plane: 'any', load: () => Promise.reject(cause) } }
    expect(await reasonOf(importer(catalog)('x', undefined, 'host'))).toMatchObject({
      message: 'cannot import x: a torn file',
      cause,
    })
  })
})

describe('from the folder of the document', () => {
  const MODULE = `export default { name: 'found', apply: async () => {} }\n`
  const installed = (name: string, manifest: object, file = 'i.mjs') => ({
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', ...manifest }),
    [`node_modules/${name}/${file}`]: MODULE,
  })

  async function folderWith(files: Record<string, string>): Promise<{ folder: string; baseUrl: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'core-web-loader-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    return { folder, baseUrl: pathToFileURL(`${folder}/`).href }
  }

  const load = importer(CATALOG)

  test.for([
    ['a main', { main: './i.mjs' }],
    ['an export for everybody', { exports: './i.mjs' }],
    ['an import condition', { exports: { import: './i.mjs' } }],
    ['an import condition with a default', { exports: { import: { types: './i.d.ts', default: './i.mjs' } } }],
    ['an import condition of its root', { exports: { '.': { import: './i.mjs' } } }],
    ['one with a default', { exports: { '.': { import: { types: './i.d.ts', default: './i.mjs' } } } }],
  ] as const)('an installed package with %s', async ([, manifest]) => {
    const { baseUrl } = await folderWith(installed('one', manifest))
    expect(await load('one', baseUrl, 'preset')).toMatchObject({ name: 'found' })
  })

  test.for([
    ['no condition that fits', { exports: { '.': { browser: './i.mjs' } } }],
    ['an import condition that leads nowhere', { exports: { '.': { import: { types: './i.d.ts' } } } }],
    ['an empty export', { exports: {} }],
  ] as const)('an installed package with %s says so, with what the resolver says', async ([, manifest]) => {
    const { baseUrl, folder } = await folderWith(installed('one', manifest))
    const reason = await reasonOf(load('one', baseUrl, 'preset'))
    const message = `neither in the catalog nor an installed package as seen from ${folder}/`
    expect(reason).toMatchObject({
      message: `cannot import one: ${message}`,
      cause: { message, cause: { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' } },
    })
  })

  test('a package whose main is missing, and one that is not there, are not looked for elsewhere', async () => {
    const manifest = { main: './gone.js', exports: { import: './i.mjs', require: './gone.cjs' } }
    const { baseUrl, folder } = await folderWith(installed('one', manifest))
    for (const name of ['one', 'two'])
      expect(await reasonOf(load(name, baseUrl, 'preset'))).toMatchObject({
        message: `cannot import ${name}: neither in the catalog nor an installed package as seen from ${folder}/`,
        cause: { cause: { code: 'MODULE_NOT_FOUND' } },
      })
  })

  test('a relative name, a name above the folder and an address', async () => {
    const { baseUrl } = await folderWith({ 'row.mjs': MODULE, 'sub/row.mjs': MODULE })
    for (const [name, base] of [
      ['./row.mjs', baseUrl],
      ['./row.mjs?again', baseUrl],
      ['./sub/row.mjs', baseUrl],
      ['../row.mjs', new URL('sub/', baseUrl).href],
      [new URL('row.mjs', baseUrl).href, undefined],
    ] as const)
      expect(await load(name, base, 'host')).toMatchObject({ name: 'found' })
  })

  test('a document without a folder has the catalog only', async () => {
    expect(await reasonOf(load('one', undefined, 'preset'))).toMatchObject({
      message: 'cannot import one: not in the catalog',
    })
  })
})

describe('the loader of a running host', () => {
  const row = (apply: Parameters<typeof plugin<{ moody: boolean }>>[0]['apply']): Catalog => ({
    moody: entry('host', plugin({ name: 'moody', config: z.object({ moody: z.boolean() }), apply })),
  })
  const HOST = { [HOST_FILE]: `${CORE_ROWS}- {id: moody, name: moody, config: {moody: false}}\n` }

  async function updated(catalog: Catalog): Promise<{ unhandled: unknown[]; loader: HostLoader }> {
    const { host } = await testHost(HOST, { catalog, required: [] })
    const unhandled: unknown[] = []
    const hear = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', hear)
    onTestFinished(() => void process.off('unhandledRejection', hear))
    const loader = host.ctx.loader as HostLoader
    await loader.update('host:moody', { config: { moody: true } })
    await loader.settled()
    await setImmediate()
    return { unhandled, loader }
  }

  test('a row that throws when its config changes has failed, and nothing else happens', async () => {
    const { unhandled, loader } = await updated(
      row((_ctx, { moody }) => {
        if (moody) throw new Error('not like this')
      }),
    )
    expect(unhandled).toEqual([])
    expect(loader.resolve('host:moody').fiber).toMatchObject({ _error: { message: 'not like this' } })
  })

  test('neither does the process hear of an update that the row itself refuses', async () => {
    const refuse = async (): Promise<never> => {
      throw new Error('I stay as I am')
    }
    const { unhandled, loader } = await updated(row((ctx) => void ctx.on('internal/update', refuse)))
    expect(unhandled).toEqual([])
    expect(loader.resolve('host:moody').fiber?.config).toEqual({ moody: false })
  })

  test('observers hear of every row file that was read or changed, until they stop', async () => {
    const made = await testHost({
      [HOST_FILE]: `${CORE_ROWS}- {id: more, name: cordis:include, config: {path: more.yml}}\n`,
      'more.yml': '[]\n',
    })
    const heard: string[][] = [[], []]
    const loader = made.host.ctx.loader as HostLoader
    const [stop] = heard.map((names) => loader.onDocument(({ filename, text }) => names.push(`${filename} ${text}`)))
    await made.write('more.yml', '# none\n[]\n')
    await made.host.reload()
    stop!()
    await made.write('more.yml', '[] # none\n')
    await made.host.reload()
    const file = join(made.rootDir, 'more.yml')
    expect(heard).toEqual([[`${file} # none\n[]\n`], [`${file} # none\n[]\n`, `${file} [] # none\n`]])
  })
})
