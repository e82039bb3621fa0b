import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testHost, type TestHost } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import { plugin } from '../preset/kernel.ts'
import { replaceFile } from '../preset/library-files.ts'
import { withLock } from '../settings/file-lock.ts'
import { ConfigEditor, type ConfigEditorOptions } from './config-editor.ts'

const ANY = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } }
const free = plugin<Record<string, number>>({ name: 'free', config: ANY, apply() {} })
const catalog = { free: { plane: 'host' as const, load: async () => free } }
const ROWS = `- {id: config-editor, name: config-editor}
- {id: one, name: free, config: {a: 0}}
- {id: two, name: free, config: {a: 0}}
- {id: agent-default-model, name: agent-default-model, config: {provider: p, model: m}}
`
const PATCH = 'user.cordis.yml'

const start = (patch?: string) =>
  testHost({ [HOST_FILE]: ROWS, ...(patch !== undefined && { [`data/${PATCH}`]: patch }) }, { catalog })
const beside = ({ rootDir, dataDir }: TestHost) => testHost({}, { rootDir, dataDir, catalog })
const editorOf = ({ host }: TestHost) => host.service('configEditor')!
const withOptions = ({ host }: TestHost, options: ConfigEditorOptions) =>
  new ConfigEditor(host.ctx, host.ctx.hostRows, options)
const textOf = ({ dataDir }: TestHost) => readFile(join(dataDir, PATCH), 'utf8').catch(() => undefined)
const configOf = ({ host }: TestHost, row: string) => host.ctx.loader.resolve(`host:${row}`).options.config
const write = ({ dataDir }: TestHost, text: string) => writeFile(join(dataDir, PATCH), text)

test('two hosts on one data folder that save one row and different rows at once lose nothing', async () => {
  const first = await start()
  const second = await beside(first)
  const saves = Array.from({ length: 6 }, (_, n) => [
    editorOf(first).edit('one', (config) => ({ ...config, [`f${n}`]: n })),
    editorOf(second).edit('one', (config) => ({ ...config, [`s${n}`]: n })),
    editorOf(n % 2 ? first : second).edit('two', (config) => ({ ...config, a: Number(config['a']) + 1 })),
  ])
  await Promise.all(saves.flat())
  const third = await beside(first)
  const keys = Object.keys(configOf(third, 'one') as object).toSorted()
  expect(keys).toEqual(['a', 'f0', 'f1', 'f2', 'f3', 'f4', 'f5', 's0', 's1', 's2', 's3', 's4', 's5'])
  expect(configOf(third, 'two')).toEqual({ a: 6 })
})

test('an edit begins with what the file says now, not with what runs', async () => {
  const made = await start()
  await write(made, '# by hand\n- id: one\n  config: {a: 5, b: 6} # mine\n')
  await editorOf(made).edit('one', (config) => ({ ...config, c: 7 }))
  expect(await textOf(made)).toBe('# by hand\n- id: one\n  config: {a: 5, b: 6, c: 7} # mine\n')
  expect(configOf(made, 'one')).toEqual({ a: 5, b: 6, c: 7 })
})

test('the derivation sees expressions as written and as evaluated', async () => {
  const made = await start('- id: one\n  config: {a: !!js 1 + 1}\n')
  const seen: unknown[] = []
  await editorOf(made).edit('one', (config, evaluated) => {
    seen.push(config['a'], evaluated['a'])
    return { ...config, b: 1 }
  })
  expect(seen).toEqual([{ __jsExpr: '1 + 1' }, 2])
  expect(await textOf(made)).toBe('- id: one\n  config: {a: !!js 1 + 1, b: 1}\n')
})

test('a full disk is told, the old file is whole, nothing lies beside it, and the next edit works', async () => {
  const before = '# mine\n- id: one\n  config: {a: 1}\n'
  const made = await start(before)
  const full = async () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  const edit = withOptions(made, { replace: full }).edit('one', () => ({ a: 2 }))
  await expect(edit).rejects.toMatchObject({ code: 'settings/not-saved', message: expect.stringContaining('ENOSPC') })
  expect([await textOf(made), configOf(made, 'one')]).toEqual([before, { a: 1 }])
  expect((await readdir(made.dataDir)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  await editorOf(made).edit('one', () => ({ a: 3 }))
  expect(configOf(made, 'one')).toEqual({ a: 3 })
})

test('a write that fails half-way leaves the old file, which is replaced as a whole or not at all', async () => {
  const before = '- id: one\n  config: {a: 1}\n'
  const made = await start(before)
  const late = async (path: string, text: string) => {
    await replaceFile(`${path}.elsewhere`, text.slice(0, 5))
    throw new Error('EIO: i/o error')
  }
  await expect(withOptions(made, { replace: late }).edit('one', () => ({ a: 2 }))).rejects.toMatchObject({
    code: 'settings/not-saved',
  })
  expect(await textOf(made)).toBe(before)
})

test('a lock that another process keeps is an error with a code after the deadline, and nothing is written', async () => {
  const made = await start()
  const done = Promise.withResolvers<void>()
  const held = withLock(join(made.dataDir, 'settings.lock'), () => done.promise)
  const edit = withOptions(made, { patienceMs: 60 }).edit('one', () => ({ a: 2 }))
  await expect(edit).rejects.toMatchObject({
    code: 'settings/not-saved',
    message: expect.stringContaining('settings.lock'),
  })
  done.resolve()
  await held
  expect(await textOf(made)).toBe(undefined)
})

test('what the derivation throws goes through as it is', async () => {
  const made = await start()
  const mine = new RangeError('mine')
  const edit = editorOf(made).edit('one', () => {
    throw mine
  })
  await expect(edit).rejects.toBe(mine)
})

test('K-05 a file that is no YAML any more: the last good settings stay in force, the fault is told, an edit is refused', async () => {
  const made = await start('- id: one\n  config: {a: 1}\n')
  await write(made, '- id: one\n  config: {a: [\n')
  await made.host.reload()
  expect(configOf(made, 'one')).toEqual({ a: 1 })
  expect(made.host.ctx.hostRows.skipped()).toMatchObject([{ file: join(made.dataDir, PATCH), line: 3 }])
  await expect(editorOf(made).edit('one', () => ({ a: 2 }))).rejects.toMatchObject({ code: 'settings/not-saved' })
  await write(made, '- id: one\n  config: {a: 2}\n')
  await made.host.reload()
  expect([configOf(made, 'one'), made.host.ctx.hostRows.skipped()]).toEqual([{ a: 2 }, []])
})

test('K-05 a file that is no YAML at the start: the shipped rows run, and the fault is told', async () => {
  const made = await start('}{')
  expect(configOf(made, 'one')).toEqual({ a: 0 })
  expect(made.host.report.rows).toEqual([])
  expect(made.host.ctx.hostRows.skipped()).toMatchObject([{ file: join(made.dataDir, PATCH) }])
})

test('K-05 a mistake costs its own row, at the start and later: file, line and key are told, the last good one counts', async () => {
  const bad = '- id: one\n  config: {a: 4}\n- id: agent-default-model\n  config: {provider: q, colour: red}\n'
  const made = await start(bad)
  const current = () => made.host.service('agentDefaultModel')!.currentSelection()
  const fault = {
    file: join(made.dataDir, PATCH),
    line: 3,
    row: 'agent-default-model',
    cause: expect.stringContaining('colour'),
  }
  expect([current(), configOf(made, 'one')]).toEqual([{ provider: 'p', model: 'm' }, { a: 4 }])
  expect([made.host.report.rows, made.host.report.skipped]).toMatchObject([[], [fault]])
  await write(made, bad.replace('colour: red', 'model: n'))
  await made.host.reload()
  expect([current(), made.host.report.skipped]).toEqual([{ provider: 'q', model: 'n' }, []])
  await write(made, bad)
  await made.host.reload()
  expect(current()).toEqual({ provider: 'q', model: 'n' })
  expect(made.host.report.skipped).toMatchObject([fault])
  await editorOf(made).edit('one', () => ({ a: 9 }))
  expect(await textOf(made)).toBe(bad.replace('a: 4', 'a: 9'))
})
