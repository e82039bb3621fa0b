import { crc32 } from 'node:zlib'
import type { Json } from '../../../wire/json.ts'
import type { WireFamily } from '../../../wire/messages.ts'

/** `raw` sends the model's own text wherever the wire carries text; `wrap` sends `{"rawInvalidInput": …}` instead. */
export type MalformedArguments = 'raw' | 'wrap'

/** The arguments of a call as an object, or undefined when they are no JSON object (`''`, text, arrays, numbers). */
export function objectArguments(raw: string): { [key: string]: Json } | undefined {
  try {
    const value = JSON.parse(raw) as Json
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined // models do write broken JSON; the caller wraps the text
  }
}

/** For wires that carry objects (LT-03, LT-04): own members only, so that a `__proto__` key cannot reach a prototype. */
export function wireObject(raw: string): { [key: string]: Json } {
  if (raw.trim() === '') return {}
  const value = objectArguments(raw)
  return value && !/"(__proto__|constructor)"\s*:/.test(raw) ? value : { rawInvalidInput: raw }
}

/** For wires that carry text: the bytes of the model, or with `wrap` a valid object around broken ones. */
export function wireText(raw: string, mode: MalformedArguments): string {
  if (mode === 'raw' || objectArguments(raw)) return raw
  return JSON.stringify(wireObject(raw))
}

const ID_LIMIT = 64

/**
 * A call id as the wire takes it: Anthropic allows letters, digits, `_` and `-`, OpenAI at most 64 characters. Ids of
 * another provider, or those we made unique, may hold more; a checksum keeps different ones apart.
 */
export function wireCallId(id: string, wire: WireFamily): string {
  const clean = wire === 'messages' ? id.replaceAll(/[^\w-]/g, '_') : id
  if (clean === id && id.length <= ID_LIMIT && id !== '') return id
  return `${clean.slice(0, ID_LIMIT - 9)}_${crc32(id).toString(16).padStart(8, '0')}`
}
