import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Listeners } from '../scope/listeners.ts'
import { Scopes } from '../scope/scope.ts'
import type { AssembleEvent, Assembly } from './assembly.ts'
import { SystemPrompt } from './prompt.ts'
import { renderPrompt, renderTemplate } from './template.ts'

const render = (template: string, variables: Record<string, string | undefined> = {}) =>
  renderTemplate(template, variables, 'section "s"')

function setting() {
  const scopes = new Scopes()
  const listeners = new Listeners<{ assemble: { event: AssembleEvent; result: Assembly } }>(scopes)
  const prompt = new SystemPrompt(
    { includeHarnessIdentity: false },
    { scopes, waterfall: (scope, event, inner) => listeners.waterfall('assemble', scope, event, inner) },
  )
  const text = async (scope: object = {}, variables: Record<string, string> = {}) =>
    renderPrompt(
      await prompt.assemble({
        agent: { id: 'a', scope, cwd: '/' },
        scope,
        signal: new AbortController().signal,
        tools: [],
        variables,
      }),
    )
  return { scopes, listeners, prompt, text }
}

test('J-01 a variable needs a legal name that is free in its layer', () => {
  const { prompt } = setting()
  for (const name of ['', 'A', '1a', 'a.b', 'a b', 'a-b', '_a', 'ä'])
    expect(() => prompt.variable(null, name, 'x')).toThrow('not a variable name')
  prompt.variable(null, 'a_1', 'x')
  expect(() => prompt.variable(null, 'a_1', 'y')).toThrow('already registered')
  prompt.variable({}, 'a_1', 'y')
})

test('J-02 a reference resolves when the text is rendered, against that assembly', async () => {
  const { prompt, text } = setting()
  prompt.section(null, { name: 's', order: 1, text: 'in {{place}}' })
  let place = 'A'
  prompt.variable(null, 'place', () => place)
  expect(await text()).toBe('in A')
  place = 'B'
  expect(await text()).toBe('in B')
})

test('J-03 an unknown variable is an error that names variable, place and the known names', async () => {
  expect(() => render('{{x}}')).toThrow('unknown variable "x" in section "s"; known variables: none')
  expect(() => render('{{x}}', { b: '1', a: '2' })).toThrow('known variables: a, b')
  const { prompt, text } = setting()
  prompt.section(null, { name: 'mine', order: 1, text: '{{x}}' })
  await expect(text()).rejects.toThrow('section "mine"')
})

test('J-04 a variable that has no value in this assembly is an error', async () => {
  const { prompt, text } = setting()
  prompt.section(null, { name: 's', order: 1, text: '{{x}}' })
  prompt.variable(null, 'x', () => undefined)
  await expect(text()).rejects.toThrow('"x" in section "s" has no value')
})

test('J-05 a complete but illegal reference is malformed', () => {
  for (const bad of ['{{a.b}}', '{{ a }}', '{{A}}', '{{}}', '{{{a}}}', '{{a {{b}}', '{{a{b}}'])
    expect(() => render(bad, { a: '1', b: '2' })).toThrow('malformed')
})

test('J-06 a lone opening with no closing after it stays literal', () => {
  expect(render('}} a {{ b', {})).toBe('}} a {{ b')
  expect(render('{{a}} then {{', { a: '1' })).toBe('1 then {{')
})

test('J-07 inserted values are not scanned again', () => {
  expect(render('{{a}}{{b}}', { a: '{{b}}', b: '{{' })).toBe('{{b}}{{')
})

test('J-08 only own keys count', () => {
  expect(() => render('{{constructor}}')).toThrow('unknown')
  expect(() => render('{{valueof}}')).toThrow('unknown')
})

test('J-09 {{model}} renders only if this assembly supplied it', async () => {
  const { prompt, text } = setting()
  prompt.section(null, { name: 's', order: 1, text: 'by {{model}}' })
  await expect(text()).rejects.toThrow('unknown variable "model"')
  expect(await text({}, { model: 'M' })).toBe('by M')
})

test('J-10 interpolate false is literal', async () => {
  const { prompt, text } = setting()
  prompt.section(null, { name: 's', order: 1, text: '{{not.a.reference}}', interpolate: false })
  expect(await text()).toBe('{{not.a.reference}}')
})

test('J-11 scoped variables shadow global ones, the nearest wins', async () => {
  const { prompt, text, scopes } = setting()
  const [preset, agent] = [{}, {}]
  scopes.bindParent(agent, preset)
  prompt.section(null, { name: 's', order: 1, text: '{{x}}' })
  prompt.variable(null, 'x', 'global')
  prompt.variable(preset, 'x', 'preset')
  expect(await text(agent)).toBe('preset')
  prompt.variable(agent, 'x', 'agent')
  expect(await text(agent)).toBe('agent')
  expect(await text({})).toBe('global')
})

test('J-12 a listener may add and override variables before rendering', async () => {
  const { prompt, text, listeners } = setting()
  prompt.section(null, { name: 's', order: 1, text: '{{x}} {{y}}' })
  prompt.variable(null, 'x', 'old')
  listeners.on(null, 'assemble', async (_event, next) => {
    const result = await next()
    return { ...result, variables: { ...result.variables, x: 'new', y: 'added' } }
  })
  expect(await text()).toBe('new added')
})

test('J-07 property: any values go in once and verbatim, text without references is untouched', () => {
  const plain = fc.string().filter((text) => !text.includes('{'))
  fc.assert(
    fc.property(fc.array(fc.tuple(plain, fc.string())), plain, (pairs, tail) => {
      const variables = Object.fromEntries(pairs.map(([, value], index) => [`v${index}`, value]))
      const template = pairs.map(([before], index) => `${before}{{v${index}}}`).join('') + tail
      expect(render(template, variables)).toBe(pairs.map(([before, value]) => before + value).join('') + tail)
    }),
  )
})
