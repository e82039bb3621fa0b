import { entryListSchema } from '@deepseek-ai/cordis-plugin-include'
import { dump } from 'js-yaml'
import { conditionOf, rowProblem } from './audit.ts'
import { GROUP } from './rows.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { AuditedRow } from './audit.ts'
import type { Declaration } from './declaration.ts'

/** Rows as YAML text: `!!js` stays a tag, no anchors, no folded lines, keys as declared (G-04, G-05). */
export const dumpRows = (rows: readonly unknown[]): string =>
  dump(rows, { schema: entryListSchema, noRefs: true, lineWidth: -1, sortKeys: false })

/** A declaration for reading: its rows as YAML, nothing of what runs (G-04, G-06). */
export interface DeclaredDocument {
  agentPreset: string
  content: string
  name?: string
  description?: string
}

export const documentOf = ({ id, name, description, plugins }: Declaration): DeclaredDocument => ({
  agentPreset: id,
  content: dumpRows(plugins),
  ...(name !== undefined && { name }),
  ...(description !== undefined && { description }),
})

/** One row of a preset as a list shows it. `conditional`: only a run can tell, and nothing has run. */
export interface InventoryRow {
  id?: string
  name: string
  enabled: boolean | 'conditional'
  condition?: string
  state?: AuditedRow['state']['state']
  problem?: string
}

function* declaredRows(
  rows: readonly EntryOptions[],
  parent: Pick<InventoryRow, 'enabled' | 'condition'>,
): Generator<InventoryRow> {
  for (const row of rows) {
    const condition = conditionOf(row.disabled)
    const own: Pick<InventoryRow, 'enabled' | 'condition'> =
      condition === undefined ? { enabled: !row.disabled } : { enabled: 'conditional', condition }
    const enabled = parent.enabled === false || own.enabled === true ? parent : own
    if (row.group || row.name === GROUP) {
      if (Array.isArray(row.config)) yield* declaredRows(row.config, enabled)
      continue
    }
    yield { ...(row.id !== undefined && { id: row.id }), name: row.name, ...enabled }
  }
}

/** Inventory of a preset that is not mounted: read off the declaration, no expression is evaluated (G-09). */
export const inventoryOfDeclaration = (rows: readonly EntryOptions[]): InventoryRow[] => [
  ...declaredRows(rows, { enabled: true }),
]

/** Inventory of a mounted preset: evaluated truth plus the state of each row. */
export const inventoryOfTree = (rows: readonly AuditedRow[]): InventoryRow[] =>
  rows
    .filter((row) => !row.group)
    .map(({ id, name, state }) => {
      const problem = rowProblem(state)
      return {
        id,
        name,
        enabled: state.state !== 'disabled',
        state: state.state,
        ...(problem !== undefined && { problem }),
      }
    })
