import type { ContextView, RequestView, SectionView } from '../../../server/wire/presets.ts'
import { textTokens } from '../../../server/wire/tokens.ts'

/** A piece of the Prompt view. Sent blocks, in order and with what separates them, are the system text. */
export interface Block {
  key: string
  /** Absent for text that no registration accounts for. */
  section?: SectionView
  text: string
  sent: boolean
}

export const isSent = ({ fate }: SectionView): boolean => fate === 'shown' || fate === 'changed' || fate === 'added'

export const isKept = ({ fate }: ContextView): boolean => fate === 'kept'

/** As the host estimates. */
export const estimate = (text: string): number => Math.ceil(textTokens(text))

/**
 * Finds each sent section in the text as it was sent. What lies between two of them and is more than blank becomes a block of
 * its own, so that nothing of the text is left out, whatever was recorded about it.
 */
export function blocksOf({ system, sections }: Pick<RequestView, 'system' | 'sections'>): Block[] {
  const blocks: Block[] = []
  const unsent: Block[] = []
  let cursor = 0
  const gap = (end: number) => {
    const text = system.slice(cursor, end)
    if (text.trim() !== '') blocks.push({ key: `at${cursor}`, text: text.replaceAll(/^\n+|\n+$/g, ''), sent: true })
  }
  sections.forEach((section, index) => {
    const key = `${index}.${section.name}`
    const text = section.text ?? ''
    if (!isSent(section)) return void unsent.push({ key, section, text, sent: false })
    const found = locate(system, text, cursor)
    if (!found) return
    gap(found.start)
    blocks.push({ key, section, text: system.slice(found.start, found.end), sent: true })
    cursor = found.end
  })
  gap(system.length)
  return interleaved(blocks, unsent)
}

/** What was not sent stands where its order would have put it; what was sent keeps the order of the text. */
function interleaved(sent: readonly Block[], unsent: readonly Block[]): Block[] {
  const result = [...sent]
  for (const block of unsent) {
    const order = block.section?.order ?? 0
    const at = result.findIndex(({ section }) => (section?.order ?? -Infinity) > order)
    result.splice(at < 0 ? result.length : at, 0, block)
  }
  return result
}

function locate(system: string, text: string, from: number): { start: number; end: number } | undefined {
  for (const candidate of [text, text.trim()]) {
    if (candidate === '') continue
    const start = system.indexOf(candidate, from)
    if (start >= 0) return { start, end: start + candidate.length }
  }
  return undefined
}

/** Parameters of a tool in one line: `command: string, timeout?: number`. */
export function signature(parameters: unknown): string {
  if (typeof parameters !== 'object' || parameters === null) return ''
  const { properties, required } = parameters as { properties?: Record<string, unknown>; required?: unknown }
  const needed = Array.isArray(required) ? required : []
  return Object.entries(properties ?? {})
    .map(([name, schema]) => `${name}${needed.includes(name) ? '' : '?'}: ${typeName(schema)}`)
    .join(', ')
}

function typeName(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return 'any'
  const { type, enum: values, anyOf } = schema as { type?: unknown; enum?: unknown; anyOf?: unknown }
  if (Array.isArray(values)) return values.map(String).join(' | ')
  if (Array.isArray(type)) return type.map(String).join(' | ')
  if (typeof type === 'string') return type
  return Array.isArray(anyOf) ? anyOf.map(typeName).join(' | ') : 'any'
}
