import { readFileSync } from 'node:fs'
import { auditTree, rowProblem } from './preset/audit.ts'
import { HostFile } from './preset/file.ts'
import { lineOf } from './boot-layers.ts'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import type { HostLoader } from './preset/loader.ts'
import type { PresetRegistry } from './preset/registry.ts'
import type { SkippedFile } from './boot-layers.ts'

/** A row that could not start. */
export interface FailedRow {
  file: string
  line?: number
  row: string
  plugin: string
  cause: string
}

export interface Report {
  rows: FailedRow[]
  /** Presets that are declared and cannot be used, with the reason of each. */
  presets: { id: string; broken: string }[]
  /** Patch files that were left out as a whole. */
  skipped: SkippedFile[]
  /** Patches without a target and the like: passed over, not fatal. */
  notices: string[]
  /** Ids of required rows among `rows`: with one of them the host is of no use. */
  fatal: string[]
}

function fileOf(entry: Entry): HostFile | undefined {
  const { tree } = entry.parent
  return tree instanceof HostFile ? tree : undefined
}

/** Why the document of an include row has never been mounted; one that was keeps running and is a notice. */
function unmounted({ subtree }: Entry): { file: string; line?: number; cause: string } | undefined {
  if (!(subtree instanceof HostFile) || subtree.mounted || !subtree.fault) return undefined
  const { message: cause, line } = subtree.fault
  return { file: subtree.filename, ...(line !== undefined && { line }), cause }
}

function place(entry: Entry): { file: string; line?: number } {
  const file = fileOf(entry)?.filename
  if (file === undefined) return { file: '(host)' }
  try {
    const line = lineOf(readFileSync(file, 'utf8'), entry.options.id)
    return { file, ...(line !== undefined && { line }) }
  } catch {
    // The document itself could not be read; its row says so.
    return { file }
  }
}

/** Every row of the host and its documents that is not active by now, with the reason. */
export function failedRows(loader: HostLoader): FailedRow[] {
  return auditTree(loader).flatMap(({ id, name, entry, state }) => {
    const document = unmounted(entry)
    const cause = rowProblem(state) ?? document?.cause
    if (cause === undefined) return []
    // The row that holds the host file is the host's own; its failure is the file's.
    const [, row = id] = /^host:(.*)$/s.exec(id) ?? []
    return [{ ...(document ?? place(entry)), row, plugin: fileOf(entry)?.nameOf(entry.options) ?? name, cause }]
  })
}

const at = ({ file, line }: { file: string; line?: number }): string => (line === undefined ? file : `${file}:${line}`)

const indented = (text: string): string => text.replaceAll('\n', '\n    ')

/** Broken presets fail no row of the host (B-13); only the registry knows them. */
export function brokenPresets(registry: Pick<PresetRegistry, 'list'> | undefined): Report['presets'] {
  const rows = registry?.list() ?? []
  return rows.flatMap(({ id, broken }) => (broken === undefined ? [] : [{ id, broken }]))
}

/** The report as a person reads it; empty when everything started. */
export function reportText(report: Report): string {
  return [
    ...report.skipped.map((skipped) => `patch left out: ${at(skipped)}: ${indented(skipped.cause)}`),
    ...report.rows.map(
      (row) =>
        `${report.fatal.includes(row.row) ? 'required row' : 'row'} ${row.row} (${row.plugin}) could not start, ${at(row)}: ${indented(row.cause)}`,
    ),
    ...report.presets.map(({ id, broken }) => `preset ${id} cannot be used: ${indented(broken)}`),
    ...report.notices.map((notice) => `notice: ${notice}`),
  ].join('\n')
}
