import { isJsExpr } from '@deepseek-ai/cordis-plugin-loader'
import { never } from '../wire/never.ts'
import { STATE } from './kernel.ts'
import { importError } from './loader.ts'
import type { Fiber } from '@deepseek-ai/cordis'
import type { Entry, EntryTree } from '@deepseek-ai/cordis-plugin-loader'

export type RowState =
  | { state: 'disabled' | 'active' | 'starting' }
  | { state: 'never started'; error?: unknown }
  | { state: 'failed'; error: unknown }
  | { state: 'waiting'; services: string[] }

export interface AuditedRow {
  /** Relative to the tree that was audited. */
  id: string
  name: string
  group: boolean
  entry: Entry
  state: RowState
}

function enablement(entry: Entry): { disabled: boolean } | { error: unknown } {
  try {
    return { disabled: entry.disabled }
  } catch (error) {
    // An expression in `disabled` is evaluated at every read and may throw.
    return { error }
  }
}

function missingServices(fiber: Fiber): string[] {
  const wanted = Object.keys(fiber.inject)
  const missing = wanted.filter((name) => fiber.ctx.get(name) === undefined)
  // A service may be there and still refuse a dependent through its own check.
  return missing.length > 0 ? missing : wanted
}

/** Never waits: an unsettled row is `starting`. */
export function rowState(entry: Entry): RowState {
  const enabled = enablement(entry)
  if ('error' in enabled) return { state: 'never started', error: enabled.error }
  if (enabled.disabled) return { state: 'disabled' }
  const { fiber } = entry
  if (!fiber) return entry._initTask ? { state: 'starting' } : { state: 'never started' }
  const missing = importError(fiber.runtime?.callback)
  if (missing) return { state: 'failed', error: missing }
  switch (fiber.state as number) {
    case STATE.ACTIVE:
      return { state: 'active' }
    case STATE.FAILED:
      // Private in the typings; the public way to it is a promise, and a roster must answer at once.
      return { state: 'failed', error: (fiber as unknown as { _error: unknown })._error }
    case STATE.PENDING:
      return { state: 'waiting', services: missingServices(fiber) }
    default:
      return { state: 'starting' }
  }
}

/** Every row of a tree and of the trees below it, with ids relative to the tree. */
export function auditTree(tree: EntryTree): AuditedRow[] {
  const prefix = tree.ctx.fiber.entry ? `${tree.ctx.fiber.entry.id}:` : ''
  return [...tree.entries()].map((entry) => ({
    id: entry.id.slice(prefix.length),
    name: entry.options.name,
    group: Boolean(entry.options.group),
    entry,
    state: rowState(entry),
  }))
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function memberLines(error: unknown, depth: number): string[] {
  const cause = error instanceof Error ? error.cause : undefined
  const aggregate = error instanceof AggregateError ? error : cause
  if (!(aggregate instanceof AggregateError)) return []
  return aggregate.errors.flatMap((member: unknown) => [
    `${'  '.repeat(depth)}- ${messageOf(member)}`,
    ...memberLines(member, depth + 1),
  ])
}

/** Message of an error with one indented line per member of an aggregate, however deep (E-03). */
export const explain = (error: unknown): string => [messageOf(error), ...memberLines(error, 1)].join('\n')

/** Why a row is not usable, in the words of the roster; undefined when nothing is wrong with it. */
export function rowProblem(state: RowState): string | undefined {
  switch (state.state) {
    case 'active':
    case 'disabled':
      return undefined
    case 'starting':
      return 'still starting'
    case 'never started':
      return state.error === undefined ? 'never started' : `never started: ${explain(state.error)}`
    case 'failed':
      return explain(state.error)
    case 'waiting':
      return `waiting for ${state.services.join(', ')}`
    default:
      return never(state)
  }
}

/** One line (or block) `ID (NAME): reason` per row that is not usable. */
export const problemLines = (rows: readonly AuditedRow[]): string[] =>
  rows.flatMap((row) => {
    const problem = rowProblem(row.state)
    return problem === undefined ? [] : [`${row.id} (${row.name}): ${problem}`]
  })

/** The condition of a row that only runs can decide; undefined for a plain yes or no. */
export const conditionOf = (disabled: unknown): string | undefined =>
  isJsExpr(disabled) ? disabled.__jsExpr : undefined
