import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { inflateRawSync } from 'node:zlib'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hostileCatalog, hostilePatch } from '../../e2e/hostile.ts'
import { ANSWER, MESSAGES, SYSTEM, TOOLS } from '../../e2e/minimal.literals.ts'
import { parseFlags, type Flags } from '../flags.ts'
import { parseCassette } from '../model/replay/cassette.ts'
import { exportSession, replay, run, type CommandWorld } from './commands.ts'
import type { ChatMessage, ExportedRequest } from './messages.ts'
import { promptsOf, replayCassette, type ReplayResult } from './replay.ts'

const ROOT = join(import.meta.dirname, '../..')
const CASSETTE = join(ROOT, 'e2e/cassettes/minimal-web.jsonl')

let root: string
let flags: Flags
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'core-web-headless-')))
  const parsed = parseFlags(['run', '--data', join(root, 'data')], {}, root)
  if (parsed.kind === 'refused') throw new Error(parsed.message)
  flags = parsed.flags
})
afterAll(() => rm(root, { recursive: true, force: true }))

interface Said extends CommandWorld {
  said: Buffer[]
  errors: string[]
}

function world(): Said {
  const said: Buffer[] = []
  const errors: string[] = []
  return {
    rootDir: ROOT,
    env: { HOME: root, PATH: process.env['PATH'] },
    cwd: root,
    out: (text) => void said.push(Buffer.from(text)),
    err: (text) => void errors.push(text),
    said,
    errors,
  }
}
const outOf = ({ said }: Said) => Buffer.concat(said).toString('utf8')

describe('the recorded minimal session, without a page', () => {
  let result: ReplayResult
  beforeAll(async () => {
    const { env } = world()
    const host = { rootDir: ROOT, flags, env, catalog: hostileCatalog, patches: [hostilePatch] }
    result = await replayCassette({ cassette: CASSETTE, mode: 'replay', preset: 'minimal', host })
  }, 60_000)

  test('O-18 the cassette of the web session passes from the headless runner, hostile inputs and all', () => {
    expect(result.misses).toEqual([])
    expect(result.unused).toEqual([])
    expect(result.ends).toEqual([{ kind: 'completed' }])
    expect(result.text).toBe(ANSWER)
    const sent = result.events.filter(({ type }) => type !== 'request/origins')
    expect(JSON.stringify(sent)).not.toContain('HOSTILE')
  })

  test('O-18 O-03 its prompt and tools are the same literals as on the web', () => {
    const system = result.events.find((event) => event.type === 'system/message')
    expect(system?.data.message.content).toEqual([{ type: 'text', text: SYSTEM }])
    const header = result.events.find((event) => event.type === 'request/header')
    expect(header?.data.header.tools).toEqual(TOOLS)
  })
})

test('RE-01 a changed recording is named by its first different message, and the command fails', async () => {
  const changed = join(root, 'changed.jsonl')
  const text = await readFile(CASSETTE, 'utf8')
  await writeFile(
    changed,
    text.replaceAll('survived; the notes', 'lived; the notes').replaceAll('$RUN_MARK', '$RUN_MARL'),
  )
  const said = world()
  expect(await replay([changed], flags, said)).toBe(1)
  expect(said.errors.join('\n')).toMatch(/message 4 differs/)
  expect(said.errors.join('\n')).toContain('recorded calls that nothing asked for')
}, 60_000)

test('RE-08 refresh writes new hashes only, and says what changed', async () => {
  const stale = join(root, 'stale.jsonl')
  const text = await readFile(CASSETTE, 'utf8')
  await writeFile(stale, text.replaceAll(/"hash":"[^"]+"/g, '"hash":"old"'))
  const said = world()
  expect(await replay([stale, '--mode', 'refresh'], flags, said)).toBe(0)
  expect(await readFile(stale, 'utf8')).toBe(text)
  expect(outOf(said)).toContain('changed: main #0')
}, 60_000)

test('RE-08 the environment may set the mode; one that does not exist is refused by name', async () => {
  const said = { ...world(), env: { CORE_WEB_REPLAY: 'guess' } }
  expect(await replay([CASSETTE], flags, said)).toBe(2)
  expect(said.errors.join('\n')).toContain('There is no mode guess.')
})

test('a cassette knows its prompts', () => {
  const prompts = promptsOf(parseCassette(`${CALLS.join('\n')}\n`, 'two-turns'))
  expect(prompts).toEqual(['one', 'two'])
})

const said = (role: string, text: string) => ({ role, content: [{ type: 'text', text }] })
const toolResult = { role: 'user', content: [{ type: 'tool-result', call: 'call_1', content: [] }] }
const recorded = (n: number, length: number, tail: unknown[]) => ({
  k: 'call',
  lane: 'main',
  n,
  attempt: 1,
  purpose: 'turn',
  hash: String(n),
  config: {},
  system: '',
  tools: [],
  links: Array.from({ length: length + 1 }, (_, index) => `${n}-${index}`),
  tail,
})
const CALLS = [
  { k: 'cassette', v: 1, origin: 'scripted', scenario: 's', recorder: 'r', tokens: [], norm: 1 },
  recorded(0, 2, [said('user', 'one'), said('user', 'a snapshot that the host added')]),
  recorded(1, 4, [said('assistant', 'a call'), toolResult]),
  recorded(2, 6, [said('assistant', 'done'), said('user', 'two')]),
].map((line) => JSON.stringify(line))

describe('core-web run and export', () => {
  const demo = ['--preset', 'minimal', '--model', 'demo/scripted']
  let code: number
  let session: string
  let events: { type: string; seq: number }[]

  beforeAll(async () => {
    const said = world()
    // The scripted demo says one thing and calls one tool per answer; its first answer already uses the shell.
    code = await run([...demo, '--json', 'Show', 'me'], flags, said)
    session = said.errors.join('\n').match(/session (\S+)/)![1]!
    events = outOf(said)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; seq: number })
  }, 60_000)

  const logFile = () => {
    const month = readdirSync(join(root, 'data/sessions'))[0]!
    return join(root, 'data/sessions', month, session, 'log.jsonl')
  }

  test('run --json prints every event once, in order, and the log holds the same', async () => {
    expect(code).toBe(0)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.at(-1)?.type).toBe('turn/end')
    const stored = (await readFile(logFile(), 'utf8')).trim().split('\n').slice(1)
    expect(stored.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(events.map(({ seq }) => seq))
  })

  test('export --format raw is the log to the byte, with a manifest that names its sha-256', async () => {
    const file = join(root, 'session.zip')
    expect(await exportSession([session, '--out', file], flags, world())).toBe(0)
    const files = unzip(await readFile(file))
    expect(Object.keys(files)).toEqual(['log.jsonl', 'manifest.json'])
    expect(files['log.jsonl']!.equals(await readFile(logFile()))).toBe(true)
    expect(JSON.parse(files['manifest.json']!.toString())).toMatchObject({ session, version: 1 })
  })

  test('export --format messages holds one line per answered request, raw arguments and reasoning kept', async () => {
    const told = world()
    expect(await exportSession([session, '--format', 'messages'], flags, told)).toBe(0)
    const rows = outOf(told)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ExportedRequest)
    expect(rows).toHaveLength(events.filter(({ type }) => type === 'assistant/message').length)
    const [first, second] = rows as [ExportedRequest, ExportedRequest]
    expect(first.messages).toEqual([
      { role: 'system', content: SYSTEM },
      { role: 'user', content: 'Show me' },
    ])
    expect(first.tools.map((tool) => tool.function)).toEqual(TOOLS)
    expect(first.model).toBe('scripted')
    const completion = first.completion as Extract<ChatMessage, { role: 'assistant' }>
    expect(completion.reasoning_content).toContain('scripted run')
    expect(completion.tool_calls?.[0]?.function.name).toBe('bash')
    expect(second.messages.slice(0, 3)).toEqual([...first.messages, first.completion])
    expect(second.messages[3]).toMatchObject({ role: 'tool', tool_call_id: completion.tool_calls?.[0]?.id })
  })

  test('export --per-session is the whole conversation in one line', async () => {
    const told = world()
    expect(await exportSession([session, '--format', 'messages', '--per-session'], flags, told)).toBe(0)
    const row = JSON.parse(outOf(told)) as ExportedRequest
    expect(row.messages[0]).toEqual({ role: 'system', content: SYSTEM })
    expect(row.messages.at(-1)?.role).toBe('assistant')
  })

  test.each([
    ['a model that does not exist', ['--model', 'nobody/none', 'x'], 1, /no model provider "nobody"/],
    ['a preset that does not exist', ['--preset', 'nope', '--model', 'demo/scripted', 'x'], 1, /nope/],
    ['no model at all', ['--preset', 'minimal', 'x'], 1, /No model is chosen/],
    ['a model without provider', ['--model', 'x', 'y'], 2, /PROVIDER\/MODEL/],
    ['no prompt', [], 2, /There is no prompt/],
    ['an unknown flag', ['--nope', 'x'], 2, /Usage: core-web run/],
  ])(
    'run with %s ends with a sentence and a code',
    async (_name, args, code, message) => {
      const said = world()
      expect(await run(args, flags, said)).toBe(code)
      expect(said.errors.join('\n')).toMatch(message)
    },
    30_000,
  )

  test('export of an unknown session ends with a sentence and a code', async () => {
    const said = world()
    expect(await exportSession(['nobody'], flags, said)).toBe(1)
    expect(said.errors.join('\n')).toMatch(/nobody/)
  })
})

/** Reads local headers in order; enough to judge an archive of our own. */
function unzip(bytes: Buffer): Record<string, Buffer> {
  const files: Record<string, Buffer> = {}
  for (let at = 0; bytes.readUInt32LE(at) === 0x04034b50;) {
    const packed = bytes.readUInt32LE(at + 18)
    const title = at + 30
    const start = title + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
    files[bytes.toString('utf8', title, title + bytes.readUInt16LE(at + 26))] = inflateRawSync(
      bytes.subarray(start, start + packed),
    )
    at = start + packed
  }
  return files
}

test('O-18 the recording holds exactly the messages of the literals', async () => {
  const { calls } = parseCassette(await readFile(CASSETTE, 'utf8'), CASSETTE)
  expect(calls.at(-1)!.messages).toEqual(MESSAGES)
})
