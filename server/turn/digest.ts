import { createHash } from 'node:crypto'
import type { ToolSpec } from '../wire/messages.ts'

export interface Composition {
  /** Digest of the resolved preset declaration; absent without a preset. */
  preset: string | undefined
  /** The rendered prompt sections. */
  system: string
  tools: readonly ToolSpec[]
  provider: string
  model: string
}

// A spec's schema is frozen and shared by all assemblies: its text is made once.
const schemaTexts = new WeakMap<object, string>()

function schemaText(parameters: ToolSpec['parameters']): string {
  const known = schemaTexts.get(parameters)
  if (known !== undefined && Object.isFrozen(parameters)) return known
  const text = JSON.stringify(parameters)
  schemaTexts.set(parameters, text)
  return text
}

/** Remembers the last composition: from step to step it is nearly always the same, and comparing is cheaper than hashing. */
export class CompositionDigest {
  #last: Composition | undefined
  #digest = ''

  of(composition: Composition): string {
    if (this.#last && sameComposition(this.#last, composition)) return this.#digest
    this.#digest = compositionDigest(composition)
    this.#last = composition
    return this.#digest
  }
}

function sameComposition(a: Composition, b: Composition): boolean {
  const same = a.preset === b.preset && a.system === b.system && a.provider === b.provider && a.model === b.model
  if (!same || a.tools.length !== b.tools.length) return false
  return a.tools.every((tool, index) => {
    const other = b.tools[index]!
    if (tool.name !== other.name || tool.description !== other.description) return false
    return tool.parameters === other.parameters && Object.isFrozen(tool.parameters)
  })
}

/** sha-256, in hex, over everything that makes an agent what it is for one request. */
export function compositionDigest(composition: Composition): string {
  const { preset, system, tools, provider, model } = composition
  const hash = createHash('sha256')
  hash.update(JSON.stringify([preset ?? null, system, provider, model, tools.length]))
  for (const tool of tools)
    hash.update(`\n${JSON.stringify([tool.name, tool.description])}${schemaText(tool.parameters)}`)
  return hash.digest('hex')
}

/** Equality of JSON values; a property that is undefined counts as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const keys = Object.keys(left).filter((key) => left[key] !== undefined)
  const others = Object.keys(right).filter((key) => right[key] !== undefined)
  return (
    keys.length === others.length && keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  )
}
