import { z } from 'zod'
import { sha256 } from './kernel.ts'
import type { Entry, EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

/** Config of an `agent-preset` row (B-01). `plugins` is checked apart, so that a bad list is a broken preset and not a lost row. */
export const DeclarationConfig = z.strictObject({
  id: z.string().refine((id) => id.trim() !== '', 'is blank'),
  name: z.string().optional(),
  description: z.string().optional(),
  order: z.number().optional(),
  plugins: z.unknown().refine((plugins) => plugins !== undefined, 'is required'),
})

export interface Declaration {
  id: string
  name?: string
  description?: string
  order?: number
  plugins: EntryOptions[]
}

/** The parts of the declaring row that a generation needs: its loader id and the folder that relative names start from. */
export interface DeclaringRow {
  entry: Entry
  baseUrl: string | undefined
}

/** Throws one error that lists every wrong key of an `agent-preset` row. */
export function parseDeclaration(config: unknown): Declaration {
  const parsed = DeclarationConfig.safeParse(config ?? {})
  if (parsed.success) return parsed.data as Declaration
  const lines = parsed.error.issues.map(
    (issue) => `  - ${issue.message}${issue.path.length ? ` (at ${issue.path.join('.')})` : ''}`,
  )
  throw new Error(['invalid config:', ...lines].join('\n'))
}

function sorted(value: unknown, above: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value
  // An alias in YAML can point at what it stands in.
  if (above.includes(value)) throw new Error('the declaration contains itself')
  const path = [...above, value]
  if (Array.isArray(value)) return value.map((item) => sorted(item, path))
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item, path)]))
}

/** sha-256 of what a preset composes: its id and its rows, whatever the order of their keys; display texts do not count. Throws on one that contains itself. */
export const declarationDigest = ({ id, plugins }: Declaration): string =>
  sha256(JSON.stringify(sorted({ id, plugins })))
