import { z } from 'zod'
import type { CanonicalMessage } from './canonical.ts'

const Message = z.strictObject({ role: z.string(), content: z.array(z.json()) })

const Head = z.strictObject({
  k: z.literal('cassette'),
  v: z.literal(1),
  origin: z.enum(['scripted', 'docs', 'recorded']),
  scenario: z.string(),
  recorder: z.string(),
  tokens: z.array(z.string()),
  norm: z.literal(1),
})
const Call = z.strictObject({
  k: z.literal('call'),
  lane: z.string(),
  n: z.int().min(0),
  attempt: z.int().min(1),
  purpose: z.string(),
  hash: z.string(),
  links: z.array(z.string()),
  /** Messages that are new since the previous call of the lane. */
  tail: z.array(Message),
  config: z.json(),
  adapterDefaults: z.json().optional(),
  system: z.string(),
  tools: z.array(z.string()),
})
const Event = z.strictObject({
  k: z.literal('ev'),
  d: z.number().min(0),
  e: z.union([
    z.tuple([z.literal('open'), z.int(), z.enum(['text', 'reasoning'])]),
    z.tuple([z.literal('open'), z.int(), z.literal('tool'), z.string(), z.string()]),
    z.tuple([z.literal('delta'), z.int(), z.string()]),
    z.tuple([z.literal('close'), z.int()]),
    z.tuple([z.literal('close'), z.int(), z.json()]),
    z.tuple([z.literal('warn'), z.string(), z.string()]),
  ]),
})
const End = z.strictObject({
  k: z.literal('end'),
  finish: z.enum(['stop', 'tool-calls', 'max-tokens', 'content-filter']),
  usage: z.record(z.string(), z.json()).optional(),
  raw: z.json().optional(),
  ms: z.number().min(0).default(0),
})
const Fault = z.strictObject({
  k: z.literal('fault'),
  at: z.int().min(0),
  kind: z.enum(['throw', 'hang', 'malformed', 'missing-usage']),
  code: z.string().default('SERVER'),
  status: z.int().optional(),
  retryAfterMs: z.number().optional(),
})
const Line = z.discriminatedUnion('k', [Head, Call, Event, End, Fault])

export type CassetteHead = z.output<typeof Head>
export type CallLine = z.output<typeof Call>
export type EventLine = z.output<typeof Event>
export type EndLine = z.output<typeof End>
export type FaultLine = z.output<typeof Fault>

export interface RecordedCall {
  head: CallLine
  /** The whole message list of this call, stitched from the lane's tails. */
  messages: CanonicalMessage[]
  events: EventLine[]
  end: EndLine | undefined
  faults: FaultLine[]
}

export interface Cassette {
  head: CassetteHead
  calls: RecordedCall[]
}

/** Reads a cassette; an error names file and line. */
export function parseCassette(text: string, file: string): Cassette {
  let head: CassetteHead | undefined
  const calls: RecordedCall[] = []
  const lanes = new Map<string, CanonicalMessage[]>()
  text.split('\n').forEach((line, index) => {
    if (!line.trim()) return
    const where = `${file}:${index + 1}`
    const record = parseLine(line, where)
    if (record.k === 'cassette') return void (head = record)
    if (record.k === 'call') {
      const known = lanes.get(record.lane) ?? []
      const kept = known.slice(0, Math.max(0, record.links.length - 1 - record.tail.length))
      const messages = record.links.length === 0 ? [...known, ...record.tail] : [...kept, ...record.tail]
      lanes.set(record.lane, messages)
      return void calls.push({ head: record, messages, events: [], end: undefined, faults: [] })
    }
    const call = calls.at(-1)
    if (!call) throw new Error(`${where}: ${record.k} before the first call`)
    if (record.k === 'ev') call.events.push(record)
    if (record.k === 'end') call.end = record
    if (record.k === 'fault') call.faults.push(record)
  })
  if (!head) throw new Error(`${file}:1: a cassette begins with its head line`)
  return { head, calls }
}

function parseLine(line: string, where: string): z.output<typeof Line> {
  let json: unknown
  try {
    json = JSON.parse(line)
  } catch (error) {
    throw new Error(`${where}: not JSON: ${(error as Error).message}`, { cause: error })
  }
  const parsed = Line.safeParse(json)
  if (parsed.success) return parsed.data
  throw new Error(`${where}: ${z.prettifyError(parsed.error)}`)
}

export function formatCassette({ head, calls }: Cassette): string {
  const lines: unknown[] = [head]
  for (const call of calls) {
    lines.push(call.head, ...call.events)
    if (call.end) lines.push(call.end)
    lines.push(...call.faults)
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** What must not stand in a reviewed cassette: key-like strings and absolute home paths (RE-09). */
export function cassetteLeaks(text: string): string[] {
  const patterns: [string, RegExp][] = [
    [
      'a key-like string',
      /\b(sk-[A-Za-z0-9_-]{12,}|AIza[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|Bearer [A-Za-z0-9._-]{16,})/,
    ],
    ['an absolute home path', /\/(home|Users|root)\/[A-Za-z0-9_.-]+/],
  ]
  return text.split('\n').flatMap((line, index) =>
    patterns.flatMap(([what, pattern]) => {
      const found = pattern.exec(line)
      return found ? [`line ${index + 1}: ${what} (${found[0].slice(0, 12)}…)`] : []
    }),
  )
}
