import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ToolContext } from '../tool/tool.ts'
import { confinement, unconfined } from '../plugins/sandbox.fixture.ts'
import type { JsonObject } from '../wire/json.ts'
import { Terminals } from './terminals.ts'
import { persistentBash } from './tool.ts'
import type { Policy } from '../wire/safety.ts'

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
/** Nothing in it matters but that the gate let the call out. */
const confinementPolicy = (): Policy => ({
  sandbox: 'workspace-write',
  network: true,
  onAsk: 'prompt',
  edits: 'auto',
  commands: 'auto',
  rules: [],
  roots: [],
  masks: [],
  guarded: [],
  mounts: [],
})
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

test('a preset may give the model a restart, a limit of its own, and the way out', async () => {
  const rich = persistentBash({
    terminals,
    description: 'x',
    timeoutMs: 5000,
    extras: ['restart', 'timeout_ms', 'escalate'],
  })
  expect(Object.keys(rich.spec.parameters.properties as object)).toEqual([
    'command',
    'restart',
    'timeout_ms',
    'sandbox_permissions',
    'justification',
  ])
  expect(rich.spec.parameters.required).toEqual(['command'])
  const { context } = agent()
  await rich.run({ command: 'A=1' }, context)
  const anew = textOf((await rich.run({ command: 'echo "[$A]"', restart: true }, context)).content)
  expect(anew).toBe(`[new shell: restart; directory ${work}, variables and jobs are gone]\n[]`)
  const brief = textOf((await rich.run({ command: 'sleep 60', timeout_ms: 200 }, context)).content)
  expect(brief).toContain('the limit is 0.2 s')
  const capped = textOf((await rich.run({ command: 'sleep 60', timeout_ms: 9_999_999 }, context)).content)
  expect(capped).toContain('the limit is 5 s')
})

test('a call that asks to leave the sandbox says so to the gate, with its reason', () => {
  const rich = persistentBash({ terminals, description: 'x', extras: ['escalate'] })
  const asks = (more: JsonObject) => rich.classify?.({ command: 'ls', ...more })
  expect(asks({})).toEqual({ class: 'command', paths: [], command: 'ls' })
  const reason = { sandbox_permissions: 'require_escalated', justification: ' the network ' }
  expect(asks(reason)).toMatchObject({ command: 'ls', escalate: 'the network' })
  expect(asks({ sandbox_permissions: 'require_escalated' })?.escalate).toBe('it gives no reason.')
  expect(tool.classify?.({ command: 'ls', ...reason })).toEqual({ class: 'read', paths: [] })
})

test('a long output is kept whole in a file that the shell sees, without a trace of the wrapper', async () => {
  const { context, dispose } = agent()
  const outcome = await tool.run({ command: 'set -x; seq 1 30000 2>&1; "' }, context)
  const short = await tool.run({ command: 'seq 1 10' }, context)
  expect(textOf(short.content)).not.toContain('all of it')
  const long = await tool.run({ command: "seq 1 30000; printf '\\e[31mred\\e[0m\\n'; eval 'echo $(('" }, context)
  const said = textOf(long.content)
  const path = /characters.* omitted; all of it is in (\S+)\]/.exec(said)![1]!
  const text = readFileSync(path, 'utf8')
  expect(text.startsWith('1\n2\n3\n')).toBe(true)
  expect(text).toContain('\n29999\n30000\nred\n')
  expect(text).not.toMatch(/\]7777;|core-web-\d|builtin|\r|\x1b/) // oxlint-disable-line no-control-regex
  expect(textOf((await tool.run({ command: `wc -l <${path}` }, context)).content)).toBe(
    `${text.split('\n').length - 1}`,
  )
  expect(outcome.isError).toBe(false)
  await dispose()
  expect(existsSync(path)).toBe(false)
})

const without = await unconfined()
const note = without === undefined ? '' : ` (nothing confines here: ${without})`

test.skipIf(without !== undefined)(
  `outside of the sandbox runs once, where the shell is and with what it exports, and changes nothing of it${note}`,
  async () => {
    const place = confinement()
    const { context } = agent()
    const cwd = place.work
    const inside = { ...context, cwd, agent: { ...context.agent, cwd } }
    const confined = persistentBash({
      terminals,
      description: 'x',
      extras: ['escalate'],
      terminal: () => ({ confine: place.confine }),
    })
    try {
      const out = { ...inside, admission: { policy: place.policy, paths: [], outside: true } }
      const first = textOf((await confined.run({ command: 'pwd' }, out)).content)
      expect(first.split('\n').at(-1)).toBe(cwd)
      await confined.run(
        { command: 'mkdir -p /tmp/deep; cd /tmp/deep; export A="two\nlines" LD_PRELOAD=/tmp/evil.so; B=1; (exit 7)' },
        inside,
      )
      const command = `: >${place.home}/made; echo "$A [$B] [$LD_PRELOAD]"; pwd; exit 3`
      const outcome = await confined.run({ command, sandbox_permissions: 'require_escalated' }, out)
      const real = `${place.data}/tmp/session-1/deep`
      expect(textOf(outcome.content)).toBe(
        [
          `[ran outside of the sandbox, this once, in ${real}]`,
          '[it was a process of its own: the shell’s directory, variables and jobs are as before]',
          'two\nlines [] []',
          real,
          '[exit code: 3]',
        ].join('\n'),
      )
      expect(outcome.meta).toMatchObject({ outside: true, exitCode: 3 })
      expect(existsSync(`${place.home}/made`)).toBe(true)
      expect(textOf((await confined.run({ command: 'echo "$? $B $PWD"; : >/etc/x' }, inside)).content)).toMatch(
        /^7 1 \/tmp\/deep\n.*Read-only file system\n\[exit code: 1\]$/,
      )
    } finally {
      await terminals.closeAll()
      await place.remove()
    }
  },
)

test('what the shell says of its variables is data: a function of its own making runs nothing outside', async () => {
  const { context } = agent()
  const rich = persistentBash({ terminals, description: 'x', extras: ['escalate'] })
  await rich.run({ command: 'command() { echo "rm -rf x"; }; export C=kept' }, context)
  const policy = confinementPolicy()
  const outcome = await rich.run(
    { command: 'echo "$C"; type -t command' },
    {
      ...context,
      admission: { policy, paths: [], outside: true },
    },
  )
  expect(textOf(outcome.content)).toMatch(
    /directory, variables and jobs are as before; its variables could not be read\]\n\nbuiltin$/,
  )
})
