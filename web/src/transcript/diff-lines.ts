/** Unified form, as the edit tools report it: each line begins with ` `, `-` or `+`. A start of 0 means: not known. */
export interface Hunk {
  oldStart: number
  newStart: number
  lines: string[]
}

export interface DiffLine {
  kind: 'same' | 'add' | 'del' | 'gap'
  before?: number
  after?: number
  /** Odd pieces are the words that changed. */
  pieces: string[]
}

/** Numbers the lines and marks, within a changed pair, the words that differ. */
export function diffLines(hunks: readonly Hunk[]): DiffLine[] {
  const result: DiffLine[] = []
  hunks.forEach((hunk, index) => {
    if (index > 0) result.push({ kind: 'gap', pieces: ['⋯'] })
    const known = hunk.oldStart > 0 || hunk.newStart > 0
    let before = hunk.oldStart
    let after = hunk.newStart
    const rows: DiffLine[] = []
    for (const line of hunk.lines) {
      const pieces = [line.slice(1)]
      if (line.startsWith('\\')) rows.push({ kind: 'gap', pieces: [line.slice(2)] })
      else if (line.startsWith('-')) rows.push({ kind: 'del', pieces, ...(known && { before: before++ }) })
      else if (line.startsWith('+')) rows.push({ kind: 'add', pieces, ...(known && { after: after++ }) })
      else rows.push({ kind: 'same', pieces, ...(known && { before: before++, after: after++ }) })
    }
    result.push(...withWords(rows))
  })
  return result
}

/** Pairs each run of removed lines with the run of added lines that follows it. */
function withWords(rows: DiffLine[]): DiffLine[] {
  const result = [...rows]
  for (let index = 0; index < rows.length; index++) {
    if (rows[index]?.kind !== 'del') continue
    let removed = index
    while (rows[removed]?.kind === 'del') removed++
    const pairs = Math.min(removed - index, countAdded(rows, removed))
    for (let pair = 0; pair < pairs; pair++) markPair(result, index + pair, removed + pair)
    index = removed - 1
  }
  return result
}

function countAdded(rows: DiffLine[], from: number): number {
  let end = from
  while (rows[end]?.kind === 'add') end++
  return end - from
}

function markPair(rows: DiffLine[], del: number, add: number): void {
  const before = rows[del]
  const after = rows[add]
  if (!before || !after) return
  const words = changedWords(before.pieces[0] ?? '', after.pieces[0] ?? '')
  if (!words) return
  rows[del] = { ...before, pieces: words[0] }
  rows[add] = { ...after, pieces: words[1] }
}

/** Cells of the table of words; a longer pair of lines is shown without marks. */
const MAX_CELLS = 40_000

/** Undefined when the lines have so little in common that marks would only be noise. */
export function changedWords(before: string, after: string): [string[], string[]] | undefined {
  const a = before.match(/\w+|\s+|./gu) ?? []
  const b = after.match(/\w+|\s+|./gu) ?? []
  if (a.length * b.length > MAX_CELLS) return undefined
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  const cell = (i: number, j: number): number => table[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1))
  const left = new Pieces()
  const right = new Pieces()
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      left.add(a[i++] ?? '', false)
      right.add(b[j++] ?? '', false)
    } else if (j >= b.length || (i < a.length && cell(i + 1, j) >= cell(i, j + 1))) left.add(a[i++] ?? '', true)
    else right.add(b[j++] ?? '', true)
  }
  left.close()
  right.close()
  const same = left.parts
    .filter((_, index) => index % 2 === 0)
    .join('')
    .trim().length
  if (same * 3 < Math.max(before.trim().length, after.trim().length)) return undefined
  return [left.parts, right.parts]
}

/** Alternates unchanged and changed text, beginning with unchanged (possibly empty). */
class Pieces {
  parts: string[] = ['']
  add(text: string, changed: boolean): void {
    const last = this.parts.length - 1
    if ((last % 2 === 1) === changed) this.parts[last] += text
    else this.parts.push(text)
  }

  /** A gap of blanks between two changed words is part of the change: one mark reads better than two. */
  close(): void {
    const parts: string[] = []
    for (const [index, part] of this.parts.entries()) {
      const blank = index % 2 === 0 && index > 0 && index < this.parts.length - 1 && part.trim() === ''
      const follows = parts.length > 0 && parts.length % 2 === 0 && index % 2 === 1
      if (blank || follows) parts[parts.length - 1] += part
      else parts.push(part)
    }
    this.parts = parts
  }
}
