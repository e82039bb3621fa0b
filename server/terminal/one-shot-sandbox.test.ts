import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confinement, unconfined, type Confinement } from '../plugins/sandbox.fixture.ts'
import { oneShotBash, type OneShotOptions } from './one-shot.ts'
import { Terminal } from './terminal.ts'
import type { ToolContext, ToolOutcome } from '../tool/tool.ts'

let place: Confinement
let closing: (() => void | Promise<void>)[] = []

beforeEach(() => {
  place = confinement()
})

afterEach(async () => {
  for (const effect of closing) await effect()
  closing = []
  await place.remove()
})

const agent = { id: 'a', scope: {}, cwd: '', onClose: (effect: () => void) => closing.push(effect) }

function context(fields: Partial<ToolContext> = {}): ToolContext {
  const { signal } = new AbortController()
  const base = { agent: agent as never, callId: 'call-1', turn: 1, step: 1, cwd: place.work, signal }
  return { ...base, output: () => undefined, log: () => undefined, ...fields }
}

const tool = (options: OneShotOptions = {}) => oneShotBash({ confine: () => place.confine, ...options })
const textOf = ({ content }: ToolOutcome) => content.map((block) => (block.type === 'text' ? block.text : '')).join('')

const without = await unconfined()
const note = without === undefined ? '' : ` (nothing confines here: ${without})`

describe.skipIf(without !== undefined)(`a confined command${note}`, () => {
  test('each one is held to the policy, with the exit code and both streams in order', async () => {
    const outcome = await tool().run({ command: 'echo a; echo b >&2; : >/etc/x; echo c >made; exit 4' }, context())
    expect(textOf(outcome)).toMatch(/^a\nb\n.*\/etc\/x: Read-only file system\n\[exit code: 4\]$/)
    expect(readFileSync(join(place.work, 'made'), 'utf8')).toBe('c\n')
  })

  test('the folder of a call is one that the command sees; one that is not there is no command', async () => {
    mkdirSync(join(place.data, 'tmp/session-1/deep'))
    expect(textOf(await tool().run({ command: 'pwd', workdir: '/tmp/deep' }, context()))).toBe('/tmp/deep')
    const { error } = await tool().run({ command: 'pwd', workdir: '/tmp/none' }, context())
    expect(error).toMatchObject({ code: 'COMMAND_NOT_STARTED', reason: expect.stringContaining('/tmp/none') })
  })

  test('a long output is kept where the next command finds it', async () => {
    const outcome = await tool({ maxOutputChars: 100 }).run({ command: 'seq 1000' }, context())
    const path = /all of it is in (\S+?)\]/.exec(textOf(outcome))![1]!
    expect(path).toMatch(/^\/tmp\/call-1-/)
    expect(textOf(await tool().run({ command: `wc -l <${path}` }, context()))).toBe('1000')
  })

  test('at the limit a command is asked to end first, and everything it started is gone', async () => {
    const outcome = await tool().run(
      { command: 'trap "echo asked; exit 0" TERM; setsid sleep 98765 & sleep 98765 & wait', timeoutMs: 400 },
      context(),
    )
    expect(textOf(outcome)).toBe('asked\n[timed out after 400 ms; the command was ended]')
    const left = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && lineOf(pid).includes('98765'))
    await expect.poll(left).toEqual([])
  })
})

test('a command that asks to leave the sandbox says so to the gate, and runs bare only when it was let out', async () => {
  const args = { command: 'pwd; : >/etc/hosts.none/x', sandbox_permissions: 'require_escalated', justification: 'why' }
  expect(tool().classify?.(args)).toEqual({ class: 'command', paths: [], command: args.command, escalate: 'why' })
  const asked: string[][] = []
  const confine = () => (argv: string[]) => {
    asked.push(argv)
    return { kind: 'refused', code: 'SANDBOX_UNAVAILABLE', reason: 'No.' } as const
  }
  const admission = { policy: place.policy, paths: [], outside: false }
  expect(textOf(await tool({ confine }).run(args, context({ admission })))).toBe('[not run] No.')
  expect(asked).toHaveLength(1)
  const deep = join(place.data, 'tmp/session-1/deep')
  mkdirSync(deep)
  const out = { ...admission, outside: true }
  const outcome = await tool({ confine }).run(
    { ...args, command: 'pwd', workdir: '/tmp/deep' },
    context({ admission: out }),
  )
  expect(textOf(outcome)).toBe(`[ran outside of the sandbox, this once, in ${deep}]\n${deep}`)
  expect(asked).toHaveLength(1)
})

function lineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return '' // gone meanwhile
  }
}

test('a refused command does not run, and the reason is for the model', async () => {
  const confine = () => () => ({ kind: 'refused', code: 'SANDBOX_UNAVAILABLE', reason: 'Install it.' }) as const
  const outcome = await tool({ confine }).run({ command: ': >ran' }, context())
  expect(outcome).toMatchObject({ isError: true, error: { code: 'SANDBOX_UNAVAILABLE' } })
  expect(textOf(outcome)).toBe('[not run] Install it.')
  expect(existsSync(join(place.work, 'ran'))).toBe(false)
})

test('a command gets no descriptor of another session’s terminal', async () => {
  const terminal = new Terminal({ cwd: place.work })
  closing.push(() => terminal.close())
  await terminal.run('true')
  const confine = () => () => ({ kind: 'bare' }) as const
  const outcome = await tool({ confine }).run({ command: 'ls -l /proc/self/fd | grep -c -e ptmx -e pts' }, context())
  expect(textOf(outcome)).toBe('0\n[exit code: 1]')
})
