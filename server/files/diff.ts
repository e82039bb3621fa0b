import type { Json } from '../wire/json.ts'

/** Unified form: each line begins with ` `, `-`, `+`, or is the `\ No newline at end of file` remark. */
export interface Hunk {
  oldStart: number
  oldLines: number
  newStart: number
  newLines: number
  lines: string[]
}

export interface Diff {
  hunks: Hunk[]
  added: number
  removed: number
}

type Edit = { sign: ' ' | '-' | '+'; text: string }

const CONTEXT = 3
/** Cells of the table for the changed region; beyond it the region is shown as removed and added whole. */
const MAX_CELLS = 1_000_000
const NO_NEWLINE = '\n\\ No newline at end of file'

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  return last === '' ? lines : [...lines, last + NO_NEWLINE]
}

/** Longest common subsequence by table; `a` and `b` are what remains between common start and end. */
function regionEdits(a: string[], b: string[]): Edit[] {
  const removedAll: Edit[] = a.map((text) => ({ sign: '-', text }))
  const addedAll: Edit[] = b.map((text) => ({ sign: '+', text }))
  if (a.length * b.length > MAX_CELLS || a.length === 0 || b.length === 0) return [...removedAll, ...addedAll]
  const width = b.length + 1
  const table = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0)
  const edits: Edit[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      edits.push({ sign: ' ', text: a[i] ?? '' })
      i++
      j++
    } else if ((table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0)) {
      edits.push({ sign: '-', text: a[i++] ?? '' })
    } else {
      edits.push({ sign: '+', text: b[j++] ?? '' })
    }
  }
  return [...edits, ...removedAll.slice(i), ...addedAll.slice(j)]
}

/** Groups edits into hunks; `edits[0]` stands at 1-based line `first` of both sides. */
function hunksOf(edits: Edit[], first: number): Hunk[] {
  const hunks: Hunk[] = []
  let oldLine = first
  let newLine = first
  let hunk: Hunk | undefined
  let quiet = 0
  for (const [index, { sign, text }] of edits.entries()) {
    if (sign === ' ') {
      const next = edits.slice(index, index + CONTEXT + 1).some((edit) => edit.sign !== ' ')
      if (hunk && quiet >= CONTEXT && !next) hunk = undefined
      if (!hunk && next) {
        hunk = { oldStart: oldLine, oldLines: 0, newStart: newLine, newLines: 0, lines: [] }
        hunks.push(hunk)
      }
      quiet++
    } else {
      quiet = 0
      if (!hunk) {
        hunk = { oldStart: oldLine, oldLines: 0, newStart: newLine, newLines: 0, lines: [] }
        hunks.push(hunk)
      }
    }
    hunk?.lines.push(...(sign + text).split('\n'))
    if (sign !== '+') oldLine++
    if (sign !== '-') newLine++
    if (hunk && sign !== '+') hunk.oldLines++
    if (hunk && sign !== '-') hunk.newLines++
  }
  for (const each of hunks) {
    // The unified form counts an empty side from the line before it.
    if (each.oldLines === 0) each.oldStart--
    if (each.newLines === 0) each.newStart--
  }
  return hunks
}

/** Line diff with three lines of context, as `diff -u` would group it. */
export function diffLines(before: string, after: string): Diff {
  const a = linesOf(before)
  const b = linesOf(after)
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let tail = 0
  while (tail < a.length - start && tail < b.length - start && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const region = regionEdits(a.slice(start, a.length - tail), b.slice(start, b.length - tail))
  if (region.length === 0) return { hunks: [], added: 0, removed: 0 }
  const first = Math.max(0, start - CONTEXT)
  const same = (text: string): Edit => ({ sign: ' ', text })
  const edits = [
    ...a.slice(first, start).map(same),
    ...region,
    ...a.slice(a.length - tail, a.length - tail + CONTEXT).map(same),
  ]
  return {
    hunks: hunksOf(edits, first + 1),
    added: region.filter((edit) => edit.sign === '+').length,
    removed: region.filter((edit) => edit.sign === '-').length,
  }
}

/** Characters of hunk lines in one card; what is beyond stays in the file. */
const META_LIMIT = 64 * 1024
const META_LINE_LIMIT = 2000

function bounded(hunks: Hunk[]): { hunks: Hunk[]; truncated: boolean } {
  let room = META_LIMIT
  let truncated = false
  const kept: Hunk[] = []
  for (const hunk of hunks) {
    const lines: string[] = []
    for (const line of hunk.lines) {
      const short = line.length > META_LINE_LIMIT ? `${line.slice(0, META_LINE_LIMIT)}…`.toWellFormed() : line
      if (short !== line) truncated = true
      room -= short.length + 1
      if (room < 0) return { hunks: lines.length > 0 ? [...kept, { ...hunk, lines }] : kept, truncated: true }
      lines.push(short)
    }
    kept.push({ ...hunk, lines })
  }
  return { hunks: kept, truncated }
}

/**
 * What the diff card shows: `{kind: 'edit', path, hunks, added, removed, created?, truncated?}`. The counts are those
 * of the whole change, also when the hunks are truncated (then a hunk may have fewer lines than its header says).
 */
export function editMeta(path: string, before: string | undefined, after: string): Json {
  const { hunks, added, removed } = diffLines(before ?? '', after)
  const shown = bounded(hunks)
  return {
    kind: 'edit',
    path,
    hunks: shown.hunks.map((hunk) => ({ ...hunk })),
    added,
    removed,
    ...(before === undefined && { created: true }),
    ...(shown.truncated && { truncated: true }),
  }
}
