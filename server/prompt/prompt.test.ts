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
  const by = 'persona'
  expect((await assemble(scope)).provenance.sections).toEqual([
    { name: PERSONA_PREFIX, order: 0, owner: by, scope: 'own', fate: 'shown', text: 'mine' },
    { name: 'guide', order: 1000, owner: 'bash', scope: 'global', fate: 'discarded', by, text: 'guide' },
    { name: 'late', order: 2000, scope: 'listener', fate: 'discarded', by, text: 'late' },
    { name: PERSONA_SUFFIX, order: 10200, owner: by, scope: 'own', fate: 'discarded', by, text: '' },
    { name: PERSONA_PREFIX, order: 0, owner: 'system-prompt', scope: 'global', fate: 'shadowed', by, text: 'P' },
    { name: PERSONA_SUFFIX, order: 10200, owner: 'system-prompt', scope: 'global', fate: 'shadowed', by, text: 'S' },
  ])
  const open = await assemble({})
  expect(open.provenance.sections.map((row) => [row.name, row.scope, row.fate, row.text])).toEqual([
    [PERSONA_PREFIX, 'global', 'shown', 'P'],
    ['guide', 'global', 'shown', 'guide'],
    ['late', 'listener', 'added', 'late'],
    [PERSONA_SUFFIX, 'global', 'shown', 'S'],
  ])
})

test('a section of the preset is told from the agent’s own, and what a listener did to each is named', async () => {
  const { prompt, listeners, assemble, scopes } = setting()
  const [preset, agent] = [{}, {}]
  scopes.bindParent(agent, preset)
  registerPersona(prompt, preset, { prefix: 'in {{cwd}}', suffix: ' ' }, 'who')
  for (const name of ['edited', 'gone', 'blanked'])
    prompt.section(agent, { name, order: 10, text: name, owner: 'own-row' })
  prompt.section(agent, { name: 'literal', order: 11, text: '{{cwd}}', interpolate: false })
  prompt.section(agent, { name: 'hollow', order: 12, text: '{{nothing}}' })
  prompt.section(null, { name: 'gone', order: 10, text: () => 'never run', owner: 'far' })
  prompt.section(preset, { name: 'gone', order: 9, text: 'near {{lost}}', owner: 'near' })
  listeners.on(null, 'assemble', async (_event, next) => {
    const result = await next()
    const sections = result.sections
      .filter((section) => section.name !== 'gone')
      .map((section) => (section.name === 'edited' ? { ...section, text: 'edited {{cwd}}' } : section))
      .map((section) => (section.name === 'blanked' ? { ...section, text: '\n' } : section))
    return { ...result, sections: [...sections, { name: 'void', order: 13, text: '', owner: 'hook' }] }
  })
  const { sections } = (await assemble(agent, { cwd: '/w', nothing: '' })).provenance
  const own = { scope: 'own', owner: 'own-row' }
  expect(sections).toEqual([
    { name: PERSONA_PREFIX, order: 0, owner: 'who', scope: 'preset', fate: 'shown', text: 'in /w' },
    { name: 'blanked', order: 10, ...own, fate: 'empty', text: '\n' },
    { name: 'edited', order: 10, ...own, fate: 'changed', text: 'edited /w' },
    { name: 'gone', order: 10, ...own, fate: 'removed', text: 'gone' },
    { name: 'literal', order: 11, scope: 'own', fate: 'shown', text: '{{cwd}}' },
    { name: 'hollow', order: 12, scope: 'own', fate: 'empty', text: '' },
    { name: 'void', order: 13, owner: 'hook', scope: 'listener', fate: 'empty', text: '' },
    { name: PERSONA_SUFFIX, order: 10200, owner: 'who', scope: 'preset', fate: 'empty', text: ' ' },
    { name: 'gone', order: 9, owner: 'near', scope: 'preset', fate: 'shadowed', by: 'own-row', text: 'near {{lost}}' },
    { name: PERSONA_PREFIX, order: 0, owner: 'system-prompt', scope: 'global', fate: 'shadowed', by: 'who', text: '' },
    {
      name: PERSONA_SUFFIX,
      order: 10200,
      owner: 'system-prompt',
      scope: 'global',
      fate: 'shadowed',
      by: 'who',
      text: '',
    },
    { name: 'gone', order: 10, owner: 'far', scope: 'global', fate: 'shadowed', by: 'own-row' },
  ])
})

test('every context says whether it was kept, empty, suppressed and by whom, dropped or shadowed', async () => {
  const { prompt, listeners, assemble } = setting()
  const scope = {}
  prompt.context(null, { name: 'time', text: 'noon in {{cwd}}', owner: 'clock', order: 2 })
  prompt.context(null, { name: 'live', text: () => 'not asked', owner: 'clock', order: 3 })
  prompt.context(null, { name: 'law', text: 'outer law', required: true, owner: 'court' })
  prompt.context(scope, { name: 'law', text: () => 'the law', required: true, owner: 'near-court' })
  listeners.on(null, 'assemble', async (_event, next) => {
    const result = await next()
    return { ...result, contexts: [...result.contexts, { name: 'late', order: 1, text: 'late', owner: 'hook' }] }
  })
  const law = { name: 'law', order: 0, owner: 'near-court', scope: 'own', required: true }
  const outer = { name: 'law', order: 0, owner: 'court', scope: 'global', required: true }
  const lost = { ...outer, fate: 'shadowed', by: 'near-court', text: 'outer law' }
  const views = async () => (await assemble(scope, { cwd: '/w' })).provenance.contexts
  expect(await views()).toEqual([
    { ...law, fate: 'kept', text: 'the law' },
    { name: 'late', order: 1, owner: 'hook', scope: 'listener', fate: 'kept', text: 'late' },
    { name: 'time', order: 2, owner: 'clock', scope: 'global', fate: 'kept', text: 'noon in /w' },
    { name: 'live', order: 3, owner: 'clock', scope: 'global', fate: 'kept', text: 'not asked' },
    lost,
  ])
  const undo = [prompt.suppressContexts(scope, 'persona'), prompt.suppressContexts(null, 'host')]
  prompt.suppressContexts(scope)
  prompt.suppressContexts(null, 'host')
  const by = 'persona, host'
  expect(await views()).toEqual([
    { ...law, fate: 'kept', text: 'the law' },
    { name: 'late', order: 1, owner: 'hook', scope: 'listener', fate: 'dropped', by, text: 'late' },
    { name: 'time', order: 2, owner: 'clock', scope: 'global', fate: 'suppressed', by, text: 'noon in /w' },
    { name: 'live', order: 3, owner: 'clock', scope: 'global', fate: 'suppressed', by },
    lost,
  ])
  for (const dispose of undo) dispose()
  expect((await views()).find((view) => view.name === 'live')).toMatchObject({ fate: 'suppressed', by: 'host' })
})

test('a context that a listener took out or made empty says so; an unnamed suppressor is still one', async () => {
  const { prompt, listeners, assemble } = setting()
  for (const name of ['kept', 'out', 'blank']) prompt.context(null, { name, text: name })
  const off = listeners.on(null, 'assemble', async (_event, next) => {
    const result = await next()
    const contexts = result.contexts
      .filter((item) => item.name !== 'out')
      .map((item) => (item.name === 'blank' ? { ...item, text: ' ' } : item))
    return { ...result, contexts: [...contexts, { name: 'hollow', order: 5, text: '' }] }
  })
  expect((await assemble()).provenance.contexts).toEqual([
    { name: 'blank', order: 0, scope: 'global', fate: 'empty', text: ' ' },
    { name: 'kept', order: 0, scope: 'global', fate: 'kept', text: 'kept' },
    { name: 'out', order: 0, scope: 'global', fate: 'dropped', text: 'out' },
    { name: 'hollow', order: 5, scope: 'listener', fate: 'empty', text: '' },
  ])
  off()
  prompt.suppressContexts(null)
  expect((await assemble()).provenance.contexts).toEqual(
    ['blank', 'kept', 'out'].map((name) => ({ name, order: 0, scope: 'global', fate: 'suppressed', text: name })),
  )
})

test('an unchanged provenance is the very same frozen one; any change of a part makes a new one', async () => {
  const { prompt, assemble } = setting({ personaPrefix: '{{x}}', includeHarnessIdentity: false })
  const scope = {}
  let said = 'one'
  prompt.context(null, { name: 'c', text: () => said })
  const provenance = async (x = 'a') => (await assemble(scope, { x })).provenance
  const first = await provenance()
  expect(Object.isFrozen(first) && Object.isFrozen(first.sections) && Object.isFrozen(first.sections[0])).toBe(true)
  expect(Object.isFrozen(first.contexts) && Object.isFrozen(first.contexts[0])).toBe(true)
  expect(await provenance()).toBe(first)
  expect((await provenance('b')).sections[0]!.text).toBe('b')
  said = 'two'
  expect((await provenance('b')).contexts[0]!.text).toBe('two')
  const undo = prompt.section(null, { name: 's', order: 1, text: 'new' })
  expect((await provenance('b')).sections.map((section) => section.name)).toContain('s')
  undo()
  prompt.suppressContexts(null, 'x')
  expect((await provenance('b')).contexts[0]).toMatchObject({ fate: 'suppressed', by: 'x' })
  expect((await assemble({}, { x: 'b' })).provenance.sections[0]!.text).toBe('b')
})

test('a listener that returns nothing is an error, not an empty prompt', async () => {
  const { listeners, assemble } = setting()
  listeners.on(null, 'assemble', () => undefined)
  await expect(assemble()).rejects.toThrow('returned no assembly')
})
