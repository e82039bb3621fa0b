import type { Hunk } from '../transcript/diff-lines.ts'

/** Prompts are some hundred lines; beyond this many cells the middle is shown as removed and added whole. */
const MAX_CELLS = 1_000_000

/** Line diff of two prompts as one hunk. What both begin and end with costs nothing, however long it is. */
export function promptHunk(before: string, after: string): Hunk {
  const a = linesOf(before)
  const b = linesOf(after)
  const shorter = Math.min(a.length, b.length)
  let head = 0
  while (head < shorter && a[head] === b[head]) head++
  let tail = 0
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const same = (lines: readonly string[]) => lines.map((line) => ` ${line}`)
  const lines = [
    ...same(a.slice(0, head)),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ]
  return { oldStart: 1, newStart: 1, lines }
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'))

function middle(a: readonly string[], b: readonly string[]): string[] {
  if (a.length * b.length > MAX_CELLS) return [...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)]
  const lines: string[] = []
  const width = b.length + 1
  const table = new Uint32Array((a.length + 1) * width)
  const cell = (i: number, j: number): number => table[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1))
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i++]}`)
      j++
    } else if (j >= b.length || (i < a.length && cell(i + 1, j) >= cell(i, j + 1))) lines.push(`-${a[i++]}`)
    else lines.push(`+${b[j++]}`)
  }
  return lines
}
