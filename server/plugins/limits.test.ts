import { expect, onTestFinished, test, vi } from 'vitest'
import { declare, presetHost, shippedPresets, tool } from '../boot-testing.ts'
import { renderPrompt } from '../prompt/template.ts'
import { plugin } from '../preset/kernel.ts'
import { scopeOf } from '../preset/scope-tag.ts'
import { execute } from '../tool/execute.ts'
import { text, type AgentFacts } from '../tool/tool.ts'
import type { TestHost } from '../boot-testing.ts'
import './context.ts'

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!
const { signal } = new AbortController()

async function assembled(made: TestHost, preset: string) {
  const scope = {}
  await presetsOf(made).mount(scope, preset)
  const tools = made.host.service('tools')!.view(scope)
  const agent = { id: 'a', scope, cwd: '/' }
  const variables = { model: 'm', provider: 'p', cwd: '/' }
  const assembly = await made.host
    .service('systemPrompt')!
    .assemble({ agent, scope, signal, tools: tools.map(({ spec }) => spec), variables })
  return { scope, tools, assembly }
}

test('O-11 identity, orientation, guidance, listeners and every optional context are defeated at once', async () => {
  const made = await shippedPresets()
  const prompt = made.host.service('systemPrompt')!
  const names = ['web:orientation', 'tools:guidance', 'zzz:last']
  names.forEach((name, index) => prompt.section(null, { name, order: 200 + index * 5_000, text: `LEAK ${name}` }))
  for (const name of ['sandbox', 'approval', 'delegation', 'time'])
    prompt.context(null, { name, text: () => expect.fail(`the context ${name} was evaluated`) })
  made.host.service('hooks')!.on(
    null,
    'system-prompt/assemble',
    async (_event, next) => {
      const assembly = await next()
      const sections = [
        ...assembly.sections.map((each) => ({ ...each, text: 'LEAK' })),
        { name: 'x', order: 1, text: 'LEAK' },
      ]
      return { ...assembly, sections, contexts: [{ name: 'smuggled', order: 0, text: 'LEAK' }] }
    },
    { prepend: true },
  )
  const { assembly } = await assembled(made, 'minimal')
  expect([renderPrompt(assembly), assembly.contexts]).toEqual(['You are a helpful software engineer assistant.', []])
})

test('O-17 without a POSIX terminal minimal is broken with that reason, at once, and standard is not', async () => {
  const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32')
  onTestFinished(() => platform.mockRestore())
  const made = await shippedPresets()
  const rows = new Map(
    presetsOf(made)
      .list()
      .map((row) => [row.id, row.broken]),
  )
  expect(rows.get('minimal')).toMatch(/POSIX terminal; not supported on Windows/)
  expect(rows.get('standard')).toBeUndefined()
})

test('I-05 a persona without prefix makes its preset broken, naming the field', async () => {
  const made = await presetHost(
    declare('plain', '- {id: who, name: persona, config: {suffix: only}}') + declare('standard', tool('a')),
  )
  const { broken } = await presetsOf(made).resolve('plain')
  expect(broken).toMatch(/who \(persona\).*prefix/s)
  expect(await presetsOf(made).resolve('standard')).toEqual({ id: 'standard' })
})

test('I-21 suppressing the runtime context of a policy leaves the policy in force', async () => {
  const made = await shippedPresets()
  made.host.service('systemPrompt')!.context(null, { name: 'policy', text: 'Commands are forbidden.' })
  made.host
    .service('tools')!
    .guard(null, () => ({ refused: { content: [{ type: 'text', text: 'forbidden' }], isError: true } }) as never)
  const { scope, tools, assembly } = await assembled(made, 'minimal')
  expect(assembly.contexts).toEqual([])
  const agent: AgentFacts = { id: 'a', scope, cwd: '/', onClose() {} }
  expect(made.host.service('tools')!.guards(agent.scope)).toHaveLength(1)
  const outcome = await execute(
    { callId: 'c', name: 'bash', arguments: '{"command":"true"}' },
    {
      agent,
      turn: 1,
      step: 1,
      signal,
      tools: new Map(tools.map((each) => [each.spec.name, each])),
      guards: made.host.service('tools')!.guards(scope),
      log: { append: () => [], barrier: () => Promise.resolve() },
      hooks: {
        preExecute: (_e: never, inner: () => unknown) => inner(),
        execute: (_e: never, inner: () => unknown) => inner(),
        postExecute: (_e: never, inner: () => unknown) => inner(),
        result() {},
        output() {},
      } as never,
    },
  )
  expect(outcome.isError).toBe(true)
})

test('C-01 explicit, then the live user default, then the deployment default', async () => {
  const made = await presetHost(
    declare('standard', tool('a')) + declare('minimal', tool('b')) + declare('third', tool('c')),
  )
  const presets = presetsOf(made)
  expect(await presets.resolve()).toEqual({ id: 'standard' })
  await made.host.ctx.loader.update('host:agent-presets', {
    config: { default: 'standard', selectedDefault: 'minimal' },
  })
  expect(await presets.resolve()).toEqual({ id: 'minimal' })
  expect(await presets.resolve('third')).toEqual({ id: 'third' })
})

test('D-02 agents see a revision through their parent link; nothing is installed again for each', async () => {
  let applied = 0
  const counting = plugin({
    name: 'counting',
    inject: ['tools'],
    apply(ctx) {
      applied++
      const spec = { name: 'counted', description: '', parameters: { type: 'object' } }
      ctx.effect(() => ctx.tools.add(scopeOf(ctx) ?? null, { spec, run: async () => text('') }))
    },
  })
  const catalog = { counting: { plane: 'preset' as const, load: async () => counting } }
  const made = await presetHost(declare('standard', '- {id: c, name: counting}'), { catalog })
  const views = await Promise.all([0, 1, 2].map(() => assembled(made, 'standard')))
  expect(views.map(({ tools }) => tools.map(({ spec }) => spec.name))).toEqual([['counted'], ['counted'], ['counted']])
  expect(applied).toBe(1)
  const [first, second] = views
  const scopes = made.host.service('scopes')!
  expect(scopes.parentOf(first!.scope)).toBe(scopes.parentOf(second!.scope))
})
