import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testHost } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import { plugin } from '../preset/kernel.ts'
import type { TestHost } from '../boot-testing.ts'
import type { CoreError } from '../wire/errors.ts'

const ROW = '- {id: agent-default-model, name: agent-default-model, config: {provider: route-a, model: model-a}}\n'
const EDITOR = '- {id: config-editor, name: config-editor}\n'
const A = { provider: 'route-a', model: 'model-a' }
const B = { provider: 'route-b', model: 'model-b', reasoningEffort: 'high' }

const withRows = (rows: string, files: Record<string, string> = {}, options = {}) =>
  testHost({ [HOST_FILE]: rows, ...files }, options)
const serviceOf = ({ host }: TestHost) => host.service('agentDefaultModel')!
const update = ({ host }: TestHost, config: object) => host.ctx.loader.update('host:agent-default-model', { config })
const userPatch = ({ dataDir }: TestHost) => readFile(join(dataDir, 'user.cordis.yml'), 'utf8').catch(() => undefined)
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as CoreError,
  )

test('K-01 K-04 the default changes live, without a restart, and a config without effort clears it', async () => {
  const made = await withRows(ROW)
  const { fiber } = made.host.ctx.loader.resolve('host:agent-default-model')
  const service = serviceOf(made)
  await update(made, B)
  expect(service.currentSelection()).toEqual(B)
  await update(made, { provider: 'route-b', model: 'model-c' })
  expect(service.currentSelection()).toEqual({ provider: 'route-b', model: 'model-c' })
  expect(made.host.ctx.loader.resolve('host:agent-default-model').fiber).toBe(fiber)
  expect(serviceOf(made)).toBe(service)
})

test('K-02 K-03 each read is a fresh object, and an omitted effort is an absent key', async () => {
  const service = serviceOf(await withRows(ROW))
  const first = service.currentSelection()!
  first.model = 'changed'
  expect(service.currentSelection()).toEqual(A)
  expect(Object.keys(service.currentSelection()!)).toEqual(['provider', 'model'])
})

test('K-05 an invalid candidate changes nothing', async () => {
  const made = await withRows(ROW)
  await update(made, { provider: 7, model: 'x' })
  expect(serviceOf(made).currentSelection()).toEqual(A)
})

test('K-06 without an editor saving resolves, writes nothing and moves nothing', async () => {
  const made = await withRows(ROW)
  await serviceOf(made).saveSelection(B)
  expect([serviceOf(made).currentSelection(), await userPatch(made)]).toEqual([A, undefined])
})

test('K-07 a save writes the complete config into the user’s patch file and takes effect', async () => {
  const made = await withRows(ROW + EDITOR)
  await serviceOf(made).saveSelection(B)
  expect(serviceOf(made).currentSelection()).toEqual(B)
  expect(await userPatch(made)).toBe(
    '- id: agent-default-model\n  config:\n    provider: route-b\n    model: model-b\n    reasoningEffort: high\n',
  )
  await serviceOf(made).saveSelection({ provider: 'route-b', model: 'model-b' })
  expect(await userPatch(made)).not.toContain('reasoningEffort')
})

test('a saved default survives a restart of the host', async () => {
  const made = await withRows(ROW + EDITOR)
  await serviceOf(made).saveSelection(B)
  const { rootDir, dataDir } = made
  const again = await testHost({}, { rootDir, dataDir })
  expect(serviceOf(again).currentSelection()).toEqual(B)
})

test('K-08 K-09 saves run in order, and a failed one rejects its own caller only', async () => {
  const written: unknown[] = []
  const first = Promise.withResolvers<void>()
  const editor = plugin({
    name: 'fake-editor',
    apply(ctx) {
      ctx.provide('configEditor', {
        edit: async (_row: string, derive: (config: object) => object) => {
          written.push(derive({}))
          if (written.length === 1) await first.promise
        },
      } as never)
    },
  })
  const catalog = { 'fake-editor': { plane: 'host' as const, load: async () => editor } }
  const made = await withRows(`${ROW}- {id: editor, name: fake-editor}\n`, {}, { catalog })
  const selection = { ...B }
  const one = refusal(serviceOf(made).saveSelection(selection))
  selection.model = 'mutated afterwards'
  const two = serviceOf(made).saveSelection(A)
  await new Promise(setImmediate)
  expect(written).toEqual([B])
  first.reject(new Error('the disk is full'))
  expect((await one)?.message).toBe('the disk is full')
  await two
  expect(written).toEqual([B, A])
})

test('K-10 the values are those of the moment of the call', async () => {
  const made = await withRows(ROW + EDITOR)
  const selection = { ...B }
  const save = serviceOf(made).saveSelection(selection)
  selection.model = 'mutated afterwards'
  await save
  expect(serviceOf(made).currentSelection()).toEqual(B)
})

test('K-11 the service owns the default alone: beside a session with a pick of its own neither reads nor saves touch the session', async () => {
  const selection = { ...A, model: 'picked-in-the-session' }
  const touched: string[] = []
  const session = new Proxy(
    { selection },
    {
      get: (target, key, receiver) => (touched.push(String(key)), Reflect.get(target, key, receiver) as unknown),
      set: (_target, key) => (touched.push(`set ${String(key)}`), false),
    },
  )
  const sessions = plugin({ name: 'sessions', apply: (ctx) => void ctx.provide('sessions', session as never) })
  const catalog = { sessions: { plane: 'host' as const, load: async () => sessions } }
  const made = await withRows(`${ROW}${EDITOR}- {id: sessions, name: sessions}\n`, {}, { catalog })
  touched.length = 0
  await serviceOf(made).saveSelection(B)
  expect(serviceOf(made).currentSelection()).toEqual(B)
  expect([touched, selection.model]).toEqual([[], 'picked-in-the-session'])
  // It cannot even see one: it is handed the configuration, and imports types of the wire alone.
  for (const file of ['../settings/default-model.ts', 'agent-default-model.ts']) {
    const source = await readFile(join(import.meta.dirname, file), 'utf8')
    expect(source.match(/from '[^']*(session|agent\/|log\/)[^']*'/)).toBeNull()
  }
})

test('K-12 a default whose route is gone is told as it is', async () => {
  const made = await withRows(ROW.replace('route-a', 'vanished'))
  expect(serviceOf(made).currentSelection()).toEqual({ provider: 'vanished', model: 'model-a' })
})

test('an edit keeps comments, expressions and the other rows of the user’s file', async () => {
  const text = `# mine
- id: hooks # the hooks
  disabled: !!js process.platform === 'nowhere'
- id: agent-default-model
  config:
    provider: route-x # chosen on Monday
    model: model-x
`
  const made = await withRows(ROW + EDITOR, { 'data/user.cordis.yml': text })
  await serviceOf(made).saveSelection({ provider: 'route-y', model: 'model-x' })
  expect(await userPatch(made)).toBe(text.replace('route-x', 'route-y'))
})

test('an edit back to the inherited config takes the override out', async () => {
  const made = await withRows(ROW + EDITOR)
  await serviceOf(made).saveSelection(B)
  await serviceOf(made).saveSelection(A)
  expect((await userPatch(made))?.trim()).toBe('[]')
  expect(serviceOf(made).currentSelection()).toEqual(A)
})

test('an edit that a later layer would hide is refused and writes nothing', async () => {
  const patches = [{ id: 'agent-default-model', config: { provider: 'pinned', model: 'm' } }]
  const made = await withRows(ROW + EDITOR, {}, { patches })
  const error = await refusal(serviceOf(made).saveSelection(B))
  expect(error?.code).toBe('settings/not-saved')
  expect(await userPatch(made)).toBe(undefined)
})

test('an edit that the plugin refuses is not written', async () => {
  const made = await withRows(ROW + EDITOR)
  const error = await refusal(made.host.service('configEditor')!.edit('agent-default-model', () => ({ provider: 7 })))
  expect([error?.code, await userPatch(made)]).toEqual(['settings/not-saved', undefined])
})

test('an edit whose row then fails puts the old file and the old row back', async () => {
  const picky = plugin<{ port: number }>({
    name: 'picky',
    config: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } },
    apply(_ctx, { port }) {
      if (port === 2) throw new Error('port taken')
    },
  })
  const catalog = { picky: { plane: 'host' as const, load: async () => picky } }
  const before = '# ports\n- {id: picky, config: {port: 3}}\n'
  const made = await withRows(
    `- {id: picky, name: picky, config: {port: 1}}\n${EDITOR}`,
    { 'data/user.cordis.yml': before },
    { catalog },
  )
  const error = await refusal(made.host.service('configEditor')!.edit('picky', () => ({ port: 2 })))
  expect(error?.message).toContain('port taken')
  expect(await userPatch(made)).toBe(before)
  const entry = made.host.ctx.loader.resolve('host:picky')
  expect([entry.options.config, made.host.report.rows]).toEqual([{ port: 3 }, []])
})

test('a user’s file that cannot be read as a list refuses the edit and stays as it is', async () => {
  const made = await withRows(ROW + EDITOR)
  await writeFile(join(made.dataDir, 'user.cordis.yml'), 'not: a list\n')
  expect(await refusal(serviceOf(made).saveSelection(B))).toBeInstanceOf(Error)
  expect(await userPatch(made)).toBe('not: a list\n')
})
