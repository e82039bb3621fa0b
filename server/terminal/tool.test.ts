import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ToolContext } from '../tool/tool.ts'
import type { JsonObject } from '../wire/json.ts'
import { Terminals } from './terminals.ts'
import { persistentBash } from './tool.ts'

let work: string
const terminals = new Terminals()

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'bash-')))
})

afterEach(async () => {
  await terminals.closeAll()
  rmSync(work, { recursive: true, force: true })
})

function agent() {
  const effects: (() => void | Promise<void>)[] = []
  let live = ''
  const context: ToolContext = {
    agent: { id: 'a', scope: {}, cwd: work, onClose: (effect) => effects.push(effect) },
    callId: 'c',
    turn: 1,
    step: 1,
    cwd: work,
    signal: new AbortController().signal,
    output: (text) => (live += text),
    log: () => undefined,
  }
  return { context, live: () => live, dispose: () => Promise.all(effects.map((effect) => effect())) }
}

const tool = persistentBash({ terminals, description: 'text of the deployment' })
const textOf = (content: { type: string }[]) => content.map((block) => ('text' in block ? block.text : '')).join('')

test('the tool has exactly one required string parameter and the configured description', () => {
  expect(tool.spec.name).toBe('bash')
  expect(tool.spec.description).toBe('text of the deployment')
  expect(tool.spec.parameters).toMatchObject({ type: 'object', required: ['command'], additionalProperties: false })
  expect(Object.keys(tool.spec.parameters.properties as object)).toEqual(['command'])
  expect(tool.parallel).toBeUndefined()
  expect(tool.classify?.({ command: 'ls' })).toEqual({ class: 'command', paths: [], command: 'ls' })
})

test.each<JsonObject>([
  {},
  { command: '' },
  { command: ' \n' },
  { command: 'a\0b' },
  { command: 1 },
  { command: 'true', restart: true },
])('arguments %j are an error result and start no shell', async (args) => {
  const outcome = await tool.run(args, agent().context)
  expect(outcome.isError).toBe(true)
  expect(outcome.error?.code).toBe('TOOL_ARGUMENTS_INVALID')
  expect(terminals.count()).toBe(0)
})

test('O-15 the shell lives over the calls of its agent and ends when the agent is disposed', async () => {
  const { context, live, dispose } = agent()
  await tool.run({ command: 'cd /usr; export A=1' }, context)
  const outcome = await tool.run({ command: 'echo $A $PWD; false' }, context)
  expect(textOf(outcome.content)).toBe('1 /usr\n[exit code: 1]')
  expect(outcome.isError).toBe(false)
  expect(outcome.meta).toMatchObject({ end: 'completed', exitCode: 1 })
  expect(live()).toBe('1 /usr\n')
  expect(terminals.count()).toBe(1)
  await dispose()
  expect(terminals.count()).toBe(0)
})

test('O-16 two agents have shells of their own', async () => {
  const [one, two] = [agent(), agent()]
  await tool.run({ command: 'A=one' }, one.context)
  expect(textOf((await tool.run({ command: 'echo "[$A]"' }, two.context)).content)).toBe('[]')
})

test('O-15 a session that had a shell before this process is told so', async () => {
  const after = persistentBash({ terminals, description: 'x', previous: () => 'restart' })
  const { context } = agent()
  const first = `[new shell: restart; directory ${work}, variables and jobs are gone]\nhi`
  expect(textOf((await after.run({ command: 'echo hi' }, context)).content)).toBe(first)
  expect(textOf((await after.run({ command: 'echo hi' }, context)).content)).toBe('hi')
})

test('B37 the configured limit ends a call, and the text names it', async () => {
  const brief = persistentBash({ terminals, description: 'x', timeoutMs: 200 })
  const outcome = await brief.run({ command: 'sleep 9999' }, agent().context)
  expect(outcome.isError).toBe(true)
  expect(textOf(outcome.content)).toContain('the limit is 0.2 s')
})
