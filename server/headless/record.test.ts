import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMock } from '../../e2e/mock-llm/server.ts'
import { parseFlags, type Flags } from '../flags.ts'
import { parseCassette } from '../model/replay/cassette.ts'
import { StateStore } from '../workspace/state.ts'
import { replay, type CommandWorld } from './commands.ts'

const ROOT = join(import.meta.dirname, '../..')
let root: string
let work: string
let flags: Flags
let mock: Awaited<ReturnType<typeof startMock>>

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'core-web-record-')))
  work = await realpath(await mkdtemp(join(tmpdir(), 'core-web-scene-')))
  const parsed = parseFlags(['replay', '--data', join(root, 'data')], {}, root)
  if (parsed.kind === 'refused') throw new Error(parsed.message)
  flags = parsed.flags
  mock = await startMock({})
  await mkdir(flags.data, { recursive: true })
  const state = new StateStore(flags.data)
  state.set('providers', [
    { id: 'local', label: 'Local', wire: 'chat', baseURL: `${mock.url}/v1`, keyless: true, models: ['m'] },
  ])
  state.close()
})
afterAll(async () => {
  await mock.close()
  await rm(root, { recursive: true, force: true })
  await rm(work, { recursive: true, force: true })
})

function world(env: NodeJS.ProcessEnv = {}): CommandWorld & { said: string[]; errors: string[] } {
  const said: string[] = []
  const errors: string[] = []
  return {
    rootDir: ROOT,
    env: { HOME: root, PATH: process.env['PATH'], ...env },
    cwd: root,
    out: (text) => void said.push(String(text)),
    err: (text) => void errors.push(text),
    said,
    errors,
  }
}

test('RE-08 record writes what a live provider said, and the file replays without it', async () => {
  mock.script('*', [
    { toolCalls: [{ name: 'bash', arguments: '{"command":"pwd"}' }], finish: 'tool-calls' },
    { text: `Your folder is ${work}.` },
  ])
  const first = world()
  const code = await replay(
    ['scene.jsonl', '--mode', 'record', '--cwd', work, '--model', 'local/m', '--prompt', 'Where are we?'],
    flags,
    first,
  )
  expect([code, first.errors.filter((line) => line.includes('publish'))]).toEqual([0, []])
  expect(first.said.join('')).toContain('2 calls')
  const text = await readFile(join(root, 'scene.jsonl'), 'utf8')
  expect(text).not.toContain(work)
  expect(parseCassette(text, 'scene.jsonl').head).toMatchObject({
    origin: 'recorded',
    scenario: 'scene',
    tokens: ['cwd'],
  })
  const asked = mock.requests.length
  expect(await replay(['scene.jsonl', '--cwd', work], flags, world())).toBe(0)
  expect(mock.requests).toHaveLength(asked)
})

test('RE-08 missing asks the provider only for calls that the cassette lacks', async () => {
  const text = await readFile(join(root, 'scene.jsonl'), 'utf8')
  const lines = text.trim().split('\n')
  const second = lines.findIndex((line) => line.includes('"k":"call"') && line.includes('"n":1'))
  await writeFile(join(root, 'part.jsonl'), `${lines.slice(0, second).join('\n')}\n`)
  mock.script('*', [{ text: 'Only this was asked.' }])
  const asked = mock.requests.length
  const run = world()
  expect(await replay(['part.jsonl', '--mode', 'missing', '--cwd', work], flags, run)).toBe(0)
  expect(mock.requests).toHaveLength(asked + 1)
  expect(parseCassette(await readFile(join(root, 'part.jsonl'), 'utf8'), 'part').calls).toHaveLength(2)
  expect(await replay(['part.jsonl', '--cwd', work], flags, world())).toBe(0)
})

test('RE-08 a first recording needs its prompt and model, and CI records nothing', async () => {
  const empty = world()
  expect(await replay(['new.jsonl', '--mode', 'record', '--cwd', work], flags, empty)).toBe(1)
  expect(empty.errors.join()).toContain('--prompt')
  const ci = world({ CI: 'true' })
  expect(await replay(['scene.jsonl', '--mode', 'record', '--cwd', work], flags, ci)).toBe(2)
  expect(ci.errors.join()).toContain('read-only in CI')
})

test('a title that a model writes is recorded in its own lane, and played from there', async () => {
  const file = join(flags.data, 'user.cordis.yml')
  const before = await readFile(file, 'utf8')
  await writeFile(file, `${before}- id: session-controller\n  config: { titles: { provider: local, model: m } }\n`)
  mock.script('*', [{ text: 'Name of it' }, { text: 'Name of it' }])
  const args = ['named.jsonl', '--mode', 'record', '--cwd', work, '--model', 'local/m', '--prompt', 'Hello there']
  const first = world()
  expect(`${await replay(args, flags, first)}: ${first.errors.join()}`).toBe('0: ')
  const { calls } = parseCassette(await readFile(join(root, 'named.jsonl'), 'utf8'), 'named.jsonl')
  expect(calls.map(({ head }) => head.lane).toSorted()).toEqual(['main', 'title'])
  await writeFile(file, before)
  const asked = mock.requests.length
  const run = world()
  expect([await replay(['named.jsonl', '--cwd', work], flags, run), run.errors]).toEqual([0, []])
  expect(mock.requests).toHaveLength(asked)
})
