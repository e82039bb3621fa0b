import type { Assembly } from './assembly.ts'

export const VARIABLE_NAME = /^[a-z][a-z0-9_]*$/

/** A reference that cannot be filled in: the prompt must not be sent (J-13). */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TemplateError'
  }
}

type Variables = Assembly['variables']

/** Fills `{{name}}` once, left to right; inserted values are not scanned again. `place` names the text in errors. */
export function renderTemplate(template: string, variables: Variables, place: string): string {
  let rendered = ''
  let from = 0
  for (;;) {
    const open = template.indexOf('{{', from)
    const close = open < 0 ? -1 : template.indexOf('}}', open + 2)
    if (close < 0) return rendered + template.slice(from)
    rendered += template.slice(from, open) + valueOf(template.slice(open + 2, close), variables, place)
    from = close + 2
  }
}

function valueOf(name: string, variables: Variables, place: string): string {
  if (!VARIABLE_NAME.test(name))
    throw new TemplateError(
      `malformed variable reference "{{${name}}}" in ${place}: names match ${VARIABLE_NAME.source}`,
    )
  if (!Object.hasOwn(variables, name)) {
    const known = Object.keys(variables).toSorted().join(', ') || 'none'
    throw new TemplateError(`unknown variable "${name}" in ${place}; known variables: ${known}`)
  }
  const value = variables[name]
  if (value === undefined) throw new TemplateError(`variable "${name}" in ${place} has no value in this assembly`)
  return value
}

export const blank = (text: string): boolean => text.trim() === ''

/** The system prompt: non-empty sections joined by one blank line. Throws TemplateError. */
export const renderPrompt = (assembly: Pick<Assembly, 'sections' | 'variables'>): string =>
  renderAll(assembly.sections, assembly.variables, 'section')

/** The runtime-context snapshot in the same form; empty when there is nothing to say. Throws TemplateError. */
export const renderContexts = (assembly: Pick<Assembly, 'contexts' | 'variables'>): string =>
  renderAll(assembly.contexts, assembly.variables, 'context')

interface Item {
  name: string
  text: string
  interpolate?: boolean
}

/** One text as it is sent. Throws TemplateError. */
export const renderItem = (item: Item, variables: Variables, kind: string): string =>
  item.interpolate === false ? item.text : renderTemplate(item.text, variables, `${kind} "${item.name}"`)

const renderAll = (items: readonly Item[], variables: Variables, kind: string): string =>
  items
    .map((item) => renderItem(item, variables, kind))
    .filter((text) => !blank(text))
    .join('\n\n')
