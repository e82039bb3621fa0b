import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../wire/json.ts'
import type { Block, Message } from '../../wire/messages.ts'

/** JSON with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
}

/** sha-256 in base64url, cut to 22 characters (132 bits): short enough to read in a diff. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22)

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)

/**
 * Two-way names for what differs from machine to machine (`{{cwd}}`, `{{home}}`, …).
 * Longest value first, in its raw and its JSON-escaped spelling; all other text is never touched.
 */
export class Placeholders {
  readonly #values: { name: string; spelling: string }[]
  readonly #byName: Map<string, string>

  constructor(values: { readonly [name: string]: string }) {
    this.#byName = new Map(Object.entries(values))
    this.#values = Object.entries(values)
      .flatMap(([name, value]) => {
        const spellings = new Set([value, escaped(value), escaped(escaped(value))])
        return [...spellings].filter((spelling) => spelling.length > 1).map((spelling) => ({ name, spelling }))
      })
      .sort((a, b) => b.spelling.length - a.spelling.length)
  }

  encode(text: string): string {
    return this.#values.reduce((result, { name, spelling }) => result.replaceAll(spelling, `{{${name}}}`), text)
  }

  /** Raw text; inside a JSON string use `decodeJson`. */
  decode(text: string): string {
    return text.replace(/\{\{([a-z]+)\}\}/g, (whole, name: string) => this.#byName.get(name) ?? whole)
  }

  decodeJson(text: string): string {
    return text.replace(/\{\{([a-z]+)\}\}/g, (whole, name: string) => {
      const value = this.#byName.get(name)
      return value === undefined ? whole : escaped(value)
    })
  }

  /** Encodes a stream of chunks: a cut inside a value moves to the value's end, and the number of chunks stays. */
  encodeChunks(chunks: readonly string[]): string[] {
    const joined = chunks.join('')
    const spans = this.#spans(joined)
    let end = 0
    let from = 0
    return chunks.map((chunk, index) => {
      end += chunk.length
      const inside = spans.find((span) => span.start < end && end < span.end)
      const cut = index === chunks.length - 1 ? joined.length : Math.max(from, inside ? inside.end : end)
      const text = joined.slice(from, cut)
      from = cut
      return this.encode(text)
    })
  }

  #spans(text: string): { start: number; end: number }[] {
    const spans: { start: number; end: number }[] = []
    for (const { spelling } of this.#values)
      for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + spelling.length)) {
        const span = { start: at, end: at + spelling.length }
        if (!spans.some((other) => other.start < span.end && span.start < other.end)) spans.push(span)
      }
    return spans
  }
}

/** Call ids by order of first sight, so that two runs with other ids are equal. */
class CallNumbers {
  readonly #numbers = new Map<string, string>()

  of(id: string): string {
    const known = this.#numbers.get(id)
    if (known) return known
    const name = `call_${this.#numbers.size + 1}`
    this.#numbers.set(id, name)
    return name
  }
}

export interface CanonicalMessage {
  role: string
  content: Json[]
}

/** The messages as the hash chain sees them: roles and content, no ids, times or sources. */
export function canonicalMessages(messages: readonly Message[], placeholders: Placeholders): CanonicalMessage[] {
  const calls = new CallNumbers()
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((block) => canonicalBlock(block, calls, placeholders)),
  }))
}

function canonicalBlock(block: Block, calls: CallNumbers, placeholders: Placeholders): JsonObject {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: block.type, text: placeholders.encode(block.text) }
    case 'image':
      return { type: 'image', sha256: block.sha256, mediaType: block.mediaType }
    case 'tool-call':
      return {
        type: 'tool-call',
        id: calls.of(block.id),
        name: block.name,
        arguments: placeholders.encode(block.arguments),
      }
    case 'tool-result':
      return {
        type: 'tool-result',
        call: calls.of(block.toolCallId),
        content: block.content.map((part) => canonicalBlock(part, calls, placeholders)),
        ...(block.isError && { isError: true }),
      }
  }
}
