import { expect, test } from 'vitest'
import { Listeners } from '../scope/listeners.ts'
import { Scopes, type ScopeKey } from '../scope/scope.ts'
import type { AssembleEvent, Assembly } from './assembly.ts'
import { registerPersona } from './persona.ts'
import { PERSONA_PREFIX, PERSONA_SUFFIX, SystemPrompt, type PromptConfig } from './prompt.ts'
import { renderContexts, renderPrompt } from './template.ts'

const O02 = 'You are a helpful software engineer assistant.'
const bash = { name: 'bash', description: 'Run.', parameters: { type: 'object' } }

function setting(config: PromptConfig = { includeHarnessIdentity: false }) {
  const scopes = new Scopes()
  const listeners = new Listeners<{ assemble: { event: AssembleEvent; result: Assembly } }>(scopes)
  const prompt = new SystemPrompt(config, {
    scopes,
    waterfall: (scope, event, inner) => listeners.waterfall('assemble', scope, event, inner),
  })
  const assemble = (scope: ScopeKey = {}, variables: Record<string, string | undefined> = {}) =>
    prompt.assemble({
      agent: { id: 'a', scope, cwd: '/w' },
      scope,
      signal: new AbortController().signal,
      tools: [bash],
      variables,
    })
  const text = async (scope?: ScopeKey, variables?: Record<string, string>) =>
    renderPrompt(await assemble(scope, variables))
  return { scopes, listeners, prompt, assemble, text }
}

test('I-01 the two persona sections exist globally from the config, empty by default', async () => {
  const bare = setting()
  const names = (await bare.assemble()).sections.map((section) => [section.name, section.text])
  expect(names).toEqual([
    [PERSONA_PREFIX, ''],
    [PERSONA_SUFFIX, ''],
  ])
  const { text } = setting({ personaPrefix: 'P', personaSuffix: 'S', includeHarnessIdentity: false })
  expect(await text()).toBe('P\n\nS')
})

test('I-02 order is harness identity, prefix, guidance, suffix; ties by code-unit name', async () => {
  const { prompt, assemble } = setting({ personaPrefix: 'P', personaSuffix: 'S' })
  for (const name of ['b', 'a', 'B', 'é']) prompt.section(null, { name, order: 1000, text: name })
  const { sections } = await assemble()
  expect(sections.map((section) => section.name)).toEqual([
    'harness:identity',
    PERSONA_PREFIX,
    'B',
    'a',
    'b',
    'é',
    PERSONA_SUFFIX,
  ])
  expect(sections.map((section) => section.order)).toEqual([-1000, 0, 1000, 1000, 1000, 1000, 10200])
})

test('I-03 I-10 a persona wins in its own scope only, then all sections are ordered', async () => {
  const { prompt, text, scopes } = setting({ personaPrefix: 'deployment', includeHarnessIdentity: false })
  const [preset, agent, other] = [{}, {}, {}]
  scopes.bindParent(agent, preset)
  registerPersona(prompt, preset, { prefix: 'mine', suffix: 'end' })
  registerPersona(prompt, other, { prefix: 'other' })
  prompt.section(null, { name: 'guide', order: 1000, text: 'guide' })
  expect(await text(agent)).toBe('mine\n\nguide\n\nend')
  expect(await text(other)).toBe('other\n\nguide')
  expect(await text({})).toBe('deployment\n\nguide')
})

test('I-04 the defaults of a persona: no suffix, not complete, runtime context kept', async () => {
  const { prompt, assemble } = setting()
  const scope = {}
  registerPersona(prompt, scope, { prefix: 'p' })
  prompt.context(null, { name: 'time', text: 'noon' })
  prompt.section(null, { name: 'guide', order: 1000, text: 'guide' })
  const assembly = await assemble(scope)
  expect(renderPrompt(assembly)).toBe('p\n\nguide')
  expect(assembly.sections.some((section) => section.complete)).toBe(false)
  expect(renderContexts(assembly)).toBe('noon')
})

test('I-06 I-07 an empty text wins the lookup and is dropped; an omitted suffix hides the deployment one', async () => {
  const { prompt, text, assemble } = setting({ personaPrefix: 'P', personaSuffix: 'S', includeHarnessIdentity: false })
  const scope = {}
  registerPersona(prompt, scope, { prefix: '' })
  expect(await text(scope)).toBe('')
  expect((await assemble(scope)).sections.map((section) => section.text)).toEqual(['', ''])
  const withPrefix = {}
  registerPersona(prompt, withPrefix, { prefix: 'mine' })
  expect(await text(withPrefix)).toBe('mine')
})

test('I-08 unloading the persona restores the deployment text, also its contexts', async () => {
  const { prompt, text, assemble } = setting({ personaPrefix: 'P', personaSuffix: 'S', includeHarnessIdentity: false })
  const scope = {}
  prompt.context(null, { name: 'time', text: 'noon' })
  const dispose = registerPersona(prompt, scope, { prefix: 'mine', includeRuntimeContext: false })
  expect((await assemble(scope)).contexts).toEqual([])
  dispose()
  dispose()
  expect(await text(scope)).toBe('P\n\nS')
  expect((await assemble(scope)).contexts).toHaveLength(1)
})

test('I-09 a persona without a scope collides with the registry’s own section and leaves nothing behind', async () => {
  const { prompt, text } = setting({ personaPrefix: 'P', includeHarnessIdentity: false })
  expect(() => registerPersona(prompt, null, { prefix: 'x', includeRuntimeContext: false })).toThrow(
    `"${PERSONA_PREFIX}" is already registered`,
  )
  expect(await text()).toBe('P')
})

test('a persona whose second half collides takes its first half back', async () => {
  const { prompt, text } = setting({ personaPrefix: 'P', includeHarnessIdentity: false })
  const scope = {}
  prompt.section(scope, { name: PERSONA_SUFFIX, order: 10200, text: 'taken' })
  expect(() => registerPersona(prompt, scope, { prefix: 'x' })).toThrow('already registered')
  expect(await text(scope)).toBe('P\n\ntaken')
})

test('I-11 O-21 a complete section comes back as registered after the whole waterfall, alone', async () => {
  const { prompt, listeners, assemble } = setting({ personaPrefix: 'P', personaSuffix: 'S' })
  const scope = {}
  registerPersona(prompt, scope, { prefix: O02, complete: true })
  prompt.section(null, { name: 'extra', order: 999, text: 'extra' })
  listeners.on(null, 'assemble', async (event, next) => {
    event.assembly.sections[0]!.text = 'edited before'
    for (const section of event.assembly.sections) section.text = 'edited'
    const result = await next()
    result.sections.push({ name: 'late', order: 1, text: 'late' })
    return { ...result, sections: result.sections.filter((section) => section.name !== PERSONA_PREFIX) }
  })
  const assembly = await assemble(scope)
  expect(renderPrompt(assembly)).toBe(O02)
  expect(assembly.sections).toHaveLength(1)
  expect(renderPrompt(await assemble({}))).toContain('late')
})

test('I-12 complete limits sections only: tools, contexts and variables of the assembly stay', async () => {
  const { prompt, listeners, assemble } = setting()
  const scope = {}
  registerPersona(prompt, scope, { prefix: O02, complete: true })
  prompt.context(null, { name: 'time', text: 'noon' })
  prompt.variable(null, 'a', 'A')
  listeners.on(null, 'assemble', async (_event, next) => {
    const result = await next()
    result.tools.push({ name: 'more', description: '', parameters: {} })
    result.variables['b'] = 'B'
    return result
  })
  const assembly = await assemble(scope)
  expect(assembly.tools.map((tool) => tool.name)).toEqual(['bash', 'more'])
  expect(assembly.contexts.map((item) => item.text)).toEqual(['noon'])
  expect(assembly.variables).toEqual({ a: 'A', b: 'B' })
})

test('I-13 O-21 two complete sections in force reject, naming both; a shadowed one is not in force', async () => {
  const { prompt, assemble, scopes } = setting()
  const [preset, agent] = [{}, {}]
  scopes.bindParent(agent, preset)
  registerPersona(prompt, preset, { prefix: 'outer', complete: true })
  const undo = prompt.section(agent, { name: 'second', order: 5, text: 'second', complete: true })
  await expect(assemble(agent)).rejects.toThrow(`${PERSONA_PREFIX}, second`)
  undo()
  registerPersona(prompt, agent, { prefix: 'inner', complete: true })
  expect(renderPrompt(await assemble(agent))).toBe('inner')
  const plain = {}
  scopes.bindParent(plain, preset)
  registerPersona(prompt, plain, { prefix: 'plain' })
  prompt.section(plain, { name: 'second', order: 5, text: 'second', complete: true })
  expect(renderPrompt(await assemble(plain))).toBe('second')
})

test('I-14 with complete an unresolvable variable in the suffix is harmless', async () => {
  const { prompt, text } = setting()
  const [whole, part] = [{}, {}]
  registerPersona(prompt, whole, { prefix: 'p', suffix: '{{nowhere}}', complete: true })
  registerPersona(prompt, part, { prefix: 'p', suffix: '{{nowhere}}' })
  expect(await text(whole)).toBe('p')
  await expect(text(part)).rejects.toThrow('nowhere')
})

test('I-15 O-21 without runtime context optional ones are not evaluated, added ones are dropped, required ones stay', async () => {
  const { prompt, listeners, assemble } = setting()
  const scope = {}
  let evaluated = 0
  prompt.context(null, { name: 'optional', text: () => `${++evaluated}` })
  prompt.context(null, { name: 'needed', text: 'needed', required: true })
  registerPersona(prompt, scope, { prefix: 'p', includeRuntimeContext: false })
  listeners.on(null, 'assemble', async (_event, next) => {
    const result = await next()
    result.contexts.push({ name: 'added', order: 0, text: 'added' })
    return result
  })
  expect((await assemble(scope)).contexts.map((item) => item.name)).toEqual(['needed'])
  expect(evaluated).toBe(0)
  expect((await assemble({})).contexts.map((item) => item.name)).toEqual(['added', 'needed', 'optional'])
})

test('I-16 EX-23 tools, guidance, a complete persona and two contexts come out as prefix, tools, required context', async () => {
  const { prompt, assemble } = setting()
  const scope = {}
  prompt.section(null, { name: 'tool:guide', order: 1000, text: 'guidance' })
  prompt.context(null, { name: 'optional', text: 'optional' })
  prompt.context(null, { name: 'policy', text: 'policy', required: true })
  registerPersona(prompt, scope, { prefix: O02, complete: true, includeRuntimeContext: false })
  const assembly = await assemble(scope)
  expect(renderPrompt(assembly)).toBe(O02)
  expect(assembly.tools).toHaveLength(1)
  expect(renderContexts(assembly)).toBe('policy')
})

test('I-17 a listener cannot smuggle a context in by marking it required', async () => {
  const { prompt, listeners, assemble } = setting()
  const scope = {}
  prompt.context(null, { name: 'optional', text: 'optional' })
  prompt.suppressContexts(scope)
  listeners.on(null, 'assemble', async (_event, next) => {
    const result = await next()
    result.contexts.push({ name: 'optional', order: 0, text: 'smuggled', required: true })
    return result
  })
  expect((await assemble(scope)).contexts).toEqual([])
})

test('I-18 I-19 suppressors are independent, count along the chain, and an inner true undoes none', async () => {
  const { prompt, assemble, scopes } = setting()
  const [preset, agent] = [{}, {}]
  scopes.bindParent(agent, preset)
  prompt.context(null, { name: 'time', text: 'noon' })
  registerPersona(prompt, agent, { prefix: 'p', includeRuntimeContext: true })
  const count = async () => (await assemble(agent)).contexts.length
  expect(await count()).toBe(1)
  const [globally, above, aboveAgain] = [
    prompt.suppressContexts(null),
    prompt.suppressContexts(preset),
    prompt.suppressContexts(preset),
  ]
  expect(await count()).toBe(0)
  globally()
  above()
  expect(await count()).toBe(0)
  aboveAgain()
  expect(await count()).toBe(1)
})

test('I-20 a context is text for the model: rendered with the variables of its assembly', async () => {
  const { prompt, assemble } = setting()
  prompt.context(null, { name: 'b', text: 'in {{cwd}}' })
  prompt.context(null, { name: 'a', text: ({ agent }) => `agent ${agent.id}` })
  prompt.context(null, { name: 'c', text: () => undefined })
  expect(renderContexts(await assemble({}, { cwd: '/w' }))).toBe('agent a\n\nin /w')
})

test('I-22 sections that are not empty are joined by one blank line; all empty give an empty prompt', async () => {
  const { prompt, text } = setting()
  expect(await text()).toBe('')
  prompt.section(null, { name: 'a', order: 1, text: 'one' })
  prompt.section(null, { name: 'b', order: 2, text: () => undefined })
  prompt.section(null, { name: 'c', order: 3, text: '{{blank}}' })
  prompt.section(null, { name: 'd', order: 4, text: async () => 'two' })
  expect(await text({}, { blank: '' })).toBe('one\n\ntwo')
})

test('P-06 an assembly is a snapshot: what is done to one never shows in the next', async () => {
  const { prompt, assemble } = setting()
  prompt.section(null, { name: 'a', order: 1, text: 'one' })
  const first = await assemble()
  first.sections.length = 0
  first.tools[0]!.name = 'gone'
  first.variables['x'] = 'y'
  const second = await assemble()
  expect(second.sections.map((section) => section.text)).toContain('one')
  expect(second.tools[0]!.name).toBe('bash')
  expect(second.variables).toEqual({})
})

test('every section keeps its origin and its fate', async () => {
  const { prompt, listeners, assemble } = setting({
    personaPrefix: 'P',
    personaSuffix: 'S',
    includeHarnessIdentity: false,
  })
  const scope = {}
  registerPersona(prompt, scope, { prefix: 'mine', complete: true })
  prompt.section(null, { name: 'guide', order: 1000, text: 'guide', owner: 'bash' })
  listeners.on(null, 'assemble', async (_event, next) => {
    const result = await next()
    result.sections.push({ name: 'late', order: 2000, text: 'late' })
    return result
  })
  expect((await assemble(scope)).provenance).toEqual([
    { name: PERSONA_PREFIX, order: 0, owner: 'persona', scope: 'own', fate: 'shown' },
    { name: 'guide', order: 1000, owner: 'bash', scope: 'global', fate: 'discarded' },
    { name: 'late', order: 2000, scope: 'listener', fate: 'discarded' },
    { name: PERSONA_SUFFIX, order: 10200, owner: 'persona', scope: 'own', fate: 'discarded' },
    { name: PERSONA_PREFIX, order: 0, owner: 'system-prompt', scope: 'global', fate: 'shadowed' },
    { name: PERSONA_SUFFIX, order: 10200, owner: 'system-prompt', scope: 'global', fate: 'shadowed' },
  ])
  const open = await assemble({})
  expect(open.provenance.map((row) => row.fate)).toEqual(['shown', 'shown', 'added', 'shown'])
})

test('a listener that returns nothing is an error, not an empty prompt', async () => {
  const { listeners, assemble } = setting()
  listeners.on(null, 'assemble', () => undefined)
  await expect(assemble()).rejects.toThrow('returned no assembly')
})
