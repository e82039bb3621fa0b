import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { shippedPresets } from '../boot-testing.ts'
import { renderPrompt } from '../prompt/template.ts'
import type { TestHost } from '../boot-testing.ts'
import type { AgentFacts, ToolContext } from '../tool/tool.ts'

const BASH = `Run a command in this session's persistent bash shell.
* The shell stays open between calls: the working directory, exported variables, functions and background jobs persist.
* Standard input is empty. A program that waits for input is interrupted.
* Keep output small: view a range of lines with \`sed -n '10,25p' FILE\`, and pass long output through \`head\` or \`tail\`.
* Start long-running programs in the background, for example \`make serve > serve.log 2>&1 &\`.
* A call may run for at most 300 seconds.`

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!

async function agentIn(made: TestHost, preset: string) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'core-web-agent-')))
  const effects: (() => void | Promise<void>)[] = []
  const agent: AgentFacts = {
    id: `agent-${preset}`,
    scope: {},
    cwd: folder,
    onClose: (effect) => void effects.push(effect),
  }
  onTestFinished(async () => {
    for (const effect of effects) await effect()
    await rm(folder, { recursive: true, force: true })
  })
  await presetsOf(made).mount(agent.scope, preset)
  const { signal } = new AbortController()
  const tools = () => made.host.service('tools')!.view(agent.scope)
  const specs = () => tools().map(({ spec }) => spec)
  const call = async (name: string, args: object) => {
    const context: ToolContext = { agent, callId: 'c1', turn: 1, step: 1, cwd: folder, signal, output() {}, log() {} }
    const found = tools().find(({ spec }) => spec.name === name)!
    const { content } = await found.run(args as never, context)
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  }
  const assemble = () => {
    const variables = { model: 'model-a', provider: 'route-a', cwd: folder }
    return made.host.service('systemPrompt')!.assemble({ agent, scope: agent.scope, signal, tools: specs(), variables })
  }
  return { agent, folder, specs, call, assemble }
}

test('O-02 O-20 the minimal prompt is exactly one sentence, whatever the host and its listeners add', async () => {
  const made = await shippedPresets()
  const prompt = made.host.service('systemPrompt')!
  prompt.section(null, { name: 'web:orientation', order: 10, text: 'You are on the web.' })
  prompt.section(null, { name: 'test:extra', order: 999, text: 'An extra section.' })
  prompt.context(null, { name: 'policy', text: 'A dynamic policy.' })
  made.host.service('hooks')!.on(null, 'system-prompt/assemble', async (event, next) => {
    event.assembly.sections.push({ name: 'listener', order: 1, text: 'A listener.' })
    const assembly = await next()
    return { ...assembly, contexts: [...assembly.contexts, { name: 'late', order: 0, text: 'late' }] }
  })
  const { assemble } = await agentIn(made, 'minimal')
  const assembly = await assemble()
  expect(assembly.sections.map(({ name }) => name)).toEqual(['deployment:persona-prefix'])
  expect(renderPrompt(assembly)).toBe('You are a helpful software engineer assistant.')
  expect(assembly.contexts).toEqual([])
})

test('O-03 O-06 the minimal agent has exactly two tools, and bash says the environment text verbatim', async () => {
  const { specs } = await agentIn(await shippedPresets(), 'minimal')
  expect(specs().map(({ name }) => name)).toEqual(['bash', 'str_replace_editor'])
  expect(specs()[0]!.description).toBe(BASH)
  expect(Object.keys(specs()[0]!.parameters['properties'] as object)).toEqual(['command'])
})

test('O-04 the terminals are inside the preset, and the host has none', async () => {
  const made = await shippedPresets()
  const { agent } = await agentIn(made, 'minimal')
  expect(presetsOf(made).serviceFor(agent.scope, 'terminals')).toBeDefined()
  expect(made.host.service('terminals')).toBe(undefined)
  expect(
    presetsOf(made)
      .inspectCompositions()
      .flatMap(({ leakedServices }) => leakedServices),
  ).toEqual([])
})

test('O-05 the backend and the tool both allow 300 seconds', async () => {
  const { content } = presetsOf(await shippedPresets()).readDocument('minimal')
  expect(content.match(/timeoutMs: \d+/g)).toEqual(['timeoutMs: 300000', 'timeoutMs: 300000'])
})

test('O-07 O-08 the editor works on bare local files that shadow the host only for this agent', async () => {
  const made = await shippedPresets()
  const { agent, folder, call } = await agentIn(made, 'minimal')
  const own = presetsOf(made).serviceFor(agent.scope, 'fs') as { sandboxMode?: string }
  expect(own).toBeDefined()
  expect('sandboxMode' in own ? own.sandboxMode : undefined).toBe(undefined)
  expect(own).not.toBe(made.host.service('fs'))
  await writeFile(join(folder, 'a.txt'), 'one\ntwo\n')
  expect(await call('str_replace_editor', { command: 'view', path: join(folder, 'a.txt') })).toContain('two')
})

test('O-09 the editor takes absolute paths only and has no switch for it', async () => {
  const { specs, call } = await agentIn(await shippedPresets(), 'minimal')
  const schema = JSON.stringify(specs()[1]!.parameters)
  expect(schema).toMatch(/absolute/i)
  expect(schema).not.toContain('requireAbsolutePath')
  expect(await call('str_replace_editor', { command: 'view', path: 'a.txt' })).toContain('/a.txt')
})

test('O-10 minimal has no compaction', async () => {
  const made = await shippedPresets()
  const { agent } = await agentIn(made, 'minimal')
  expect([presetsOf(made).serviceFor(agent.scope, 'compaction'), made.host.service('compaction')]).toEqual([
    undefined,
    undefined,
  ])
})

test('O-13 a standard agent beside a minimal one keeps its whole catalog, and the root list is empty', async () => {
  const made = await shippedPresets()
  const standard = await agentIn(made, 'standard')
  const alone = standard.specs().map(({ name }) => name)
  const minimal = await agentIn(made, 'minimal')
  expect(alone).toEqual(['bash', 'edit', 'glob', 'grep', 'read', 'todo_write', 'write'])
  expect(standard.specs().map(({ name }) => name)).toEqual(alone)
  expect(minimal.specs().length).toBe(2)
  expect(made.host.service('tools')!.view(null)).toEqual([])
})

test('O-14 no environment variable changes the minimal prompt', async () => {
  const env = { CORE_WEB_SYSTEM_PROMPT: 'Something else.', CORE_WEB_PERSONA: 'x' }
  Object.assign(process.env, env)
  onTestFinished(() => {
    for (const name of Object.keys(env)) delete process.env[name]
  })
  const { assemble } = await agentIn(await shippedPresets({ env }), 'minimal')
  expect(renderPrompt(await assemble())).toBe('You are a helpful software engineer assistant.')
})

test('O-15 O-16 each minimal agent has a shell of its own that keeps its state', async () => {
  const made = await shippedPresets()
  const one = await agentIn(made, 'minimal')
  const two = await agentIn(made, 'minimal')
  await one.call('bash', { command: 'mkdir sub && cd sub && export GREETING=hello' })
  expect(await one.call('bash', { command: 'echo "$GREETING $PWD"' })).toContain(`hello ${one.folder}/sub`)
  expect(await two.call('bash', { command: 'echo "[$GREETING] $PWD"' })).toContain(`[] ${two.folder}`)
})

test('O-23 the shipped host file mounts no terminal, and minimal disables nobody', async () => {
  const made = await shippedPresets()
  expect(made.host.report.rows).toEqual([])
  expect(presetsOf(made).readDocument('minimal').content).not.toContain('disabled')
})

test('the standard prompt names the model and the folder', async () => {
  const { assemble, folder } = await agentIn(await shippedPresets(), 'standard')
  const text = renderPrompt(await assemble())
  expect(text).toContain('powered by model-a')
  expect(text).toContain(folder)
})

test('a one-shot command keeps its exit code, its place and nothing else', async () => {
  const { call, folder } = await agentIn(await shippedPresets(), 'standard')
  expect(await call('bash', { command: 'export X=1; cd /; echo out; echo err >&2; exit 3' })).toBe(
    'out\nerr\n[exit code: 3]',
  )
  expect(await call('bash', { command: 'echo "[$X] $PWD"' })).toBe(`[] ${folder}`)
  expect(await call('bash', { command: 'sleep 30', timeoutMs: 100 })).toContain('[timed out after 100 ms')
})

test('a long one-shot output shows its end and names the file with all of it', async () => {
  const { call } = await agentIn(await shippedPresets(), 'standard')
  const shown = await call('bash', { command: 'seq 1 20000' })
  expect(shown).toMatch(/^\[only the end of the output follows; all of it is in \S+\]/)
  expect(shown.trimEnd().endsWith('20000')).toBe(true)
  const [, file] = /is in (\S+)\]/.exec(shown)!
  expect(await call('bash', { command: `head -n 1 ${file}; wc -l < ${file}` })).toBe('1\n20000')
})

test('what a preset offers can be told without an agent', async () => {
  const { tools, sections, services, tokens } = await presetsOf(await shippedPresets()).describe('minimal')
  expect(tools.map(({ name }) => name)).toEqual(['bash', 'str_replace_editor'])
  expect(tools.map(({ owner }) => owner)).toEqual(['bash', 'editor'])
  const prefix = sections.filter(({ fate }) => fate === 'shown')
  expect(prefix).toEqual([
    {
      name: 'deployment:persona-prefix',
      order: 0,
      owner: 'persona',
      scope: 'preset',
      fate: 'shown',
      text: 'You are a helpful software engineer assistant.',
    },
  ])
  expect(sections).toContainEqual(
    expect.objectContaining({ name: 'harness:identity', fate: 'discarded', by: 'persona' }),
  )
  expect(services).toEqual(['fs', 'terminals'])
  expect(tokens.prompt).toBe(12)
  expect(tokens.tools).toBeGreaterThan(300)
})

test('O-15 the first shell of a session that had one says that its state is gone', async () => {
  const made = await shippedPresets()
  const { agent, call, folder } = await agentIn(made, 'minimal')
  const message = { content: [{ type: 'tool-result', toolCallId: 'before', content: [] }] }
  const events = [
    { type: 'tool/call', data: { callId: 'before', name: 'bash' } },
    { type: 'tool/result', data: { message } },
  ]
  Object.assign(agent, { log: { events } })
  const first = await call('bash', { command: 'echo hello' })
  expect(first).toBe(`[new shell: restart; directory ${folder}, variables and jobs are gone]\nhello`)
  expect(await call('bash', { command: 'echo again' })).toBe('again')
})
