import { EntryTree } from '@deepseek-ai/cordis-plugin-loader'
import { auditTree, problemLines } from './audit.ts'
import { declarationDigest } from './declaration.ts'
import { leaksOf, refuseLeaks } from './leaks.ts'
import { prepareRows, privateLabels } from './rows.ts'
import { createScope } from './scope-tag.ts'
import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import type { ScopeKey } from '../scope/scope.ts'
import type { AuditedRow } from './audit.ts'
import type { Declaration, DeclaringRow } from './declaration.ts'
import type { HostLoader } from './loader.ts'

/** The rows of one mounted preset: in memory only, never written anywhere (D-05). */
class PresetTree extends EntryTree {
  constructor(ctx: Context, baseUrl: string | undefined) {
    super(ctx)
    if (baseUrl !== undefined) this.ctx.baseUrl = baseUrl
  }
  override write(): void {}
  override import(name: string): Promise<unknown> {
    return (this.ctx.loader as HostLoader).load(name, this.ctx.baseUrl, 'preset')
  }
}

/** One successful activation of a declaration (F-01). Agents join it through their scope's parent link to `key`. */
export interface Generation {
  readonly id: string
  readonly serial: number
  readonly key: ScopeKey
  readonly declaration: Declaration
  readonly digest: string
  /** Given once it turned out to be usable; 0 on trial. */
  number: number
  /** Milliseconds since the epoch. */
  readonly mountedAt: number
  readonly tree: EntryTree
  readonly fiber: Fiber
  users: number
  /** Withdrawn or replaced: closes as soon as nobody uses it. */
  retired: boolean
  /** What is wrong with it right now, one entry per row, waiting rows included. */
  audit(): AuditedRow[]
  leaks(): string[]
  close(): Promise<void>
}

let serials = 0

async function before(deadlineMs: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, deadlineMs)
  try {
    await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Mounts a declaration below `own`. The declaring row is represented by a stand-in, so its own links are never touched
 * (D-06), closing a generation does not read as "the row stopped itself", and a withdrawn row does not disable the rows
 * of a generation still in use. Rejects, with nothing left behind, when the rows cannot be prepared; failing rows are left
 * to the audit.
 */
export async function mountGeneration(
  own: Context,
  row: DeclaringRow,
  declaration: Declaration,
  deadlineMs: number,
): Promise<Generation> {
  const digest = declarationDigest(declaration)
  const serial = ++serials
  const rows = privateLabels(prepareRows(declaration.plugins), serial)
  const leaked = new Set<string>()
  const scope = createScope(own, refuseLeaks(own.root, leaked))
  const { entry } = row
  scope.fiber.entry = {
    id: entry.id,
    options: { id: entry.options.id, name: entry.options.name },
    parent: { ctx: own.root, tree: entry.parent.tree },
  } as unknown as Entry
  const tree = new PresetTree(scope.ctx, row.baseUrl)
  scope.ctx.effect(() => () => tree.root.stop(), 'preset rows')
  // A row whose `apply` never settles would hold up everybody who waits for the roster; the audit calls it "still starting".
  try {
    await before(
      deadlineMs,
      tree.root.update(rows).then(() => tree.await()),
    )
  } catch (error) {
    await before(deadlineMs, scope.close())
    throw error
  }
  return {
    id: declaration.id,
    serial,
    key: scope.key,
    declaration,
    digest,
    number: 0,
    mountedAt: Date.now(),
    tree,
    fiber: scope.fiber,
    users: 0,
    retired: false,
    audit: () => auditTree(tree),
    leaks: () => [...new Set([...leaked, ...leaksOf(scope.fiber)])].toSorted(),
    close: () => before(deadlineMs, scope.close()),
  }
}

/** What keeps a fresh mount from being used at all: failed rows, rows that never started, leaks; waiting rows do not (E-06). */
export function mountFailure(generation: Generation): string | undefined {
  const leaks = generation.leaks()
  const failed = generation.audit().filter(({ state }) => state.state !== 'waiting')
  const lines = [
    ...problemLines(failed),
    ...(leaks.length > 0 ? [`services visible outside the preset: ${leaks.join(', ')}`] : []),
  ]
  return lines.length > 0 ? lines.join('\n') : undefined
}
