import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines, editMeta, type Hunk } from './diff.ts'

const MARK = '\\ No newline at end of file'

/** One side of the hunks put into `text`, line by line, as patch would. */
function apply(before: string, hunks: Hunk[]): string {
  const old = before.split('\n')
  if (old.at(-1) === '') old.pop()
  const out: string[] = []
  let at = 0
  let closed = before === '' || before.endsWith('\n')
  for (const hunk of hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1
    out.push(...old.slice(at, start))
    at = start
    for (const [index, line] of hunk.lines.entries()) {
      if (line === MARK) continue
      const marked = hunk.lines[index + 1] === MARK
      if (line.startsWith('-') || line.startsWith(' ')) expect(old[at++]).toBe(line.slice(1))
      if (line.startsWith('+') || line.startsWith(' ')) {
        out.push(line.slice(1))
        closed = !marked
      }
    }
  }
  const rest = old.slice(at)
  if (rest.length > 0) closed = before.endsWith('\n')
  out.push(...rest)
  return out.join('\n') + (closed && out.length > 0 ? '\n' : '')
}

const document = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', ' x'), { maxLength: 25 }), fc.boolean())
  .map(([lines, final]) => {
    const text = lines.join('\n')
    return final && text !== '' ? `${text}\n` : text
  })

test('hunks applied to the old text give the new one, and the counts are theirs', () => {
  fc.assert(
    fc.property(document, document, (before, after) => {
      const { hunks, added, removed } = diffLines(before, after)
      expect(apply(before, hunks)).toBe(after)
      const signs = hunks.flatMap((hunk) => hunk.lines.map((line) => line[0]))
      expect(signs.filter((sign) => sign === '+')).toHaveLength(added)
      expect(signs.filter((sign) => sign === '-')).toHaveLength(removed)
      for (const hunk of hunks) {
        expect(hunk.lines.filter((line) => /^[ -]/.test(line))).toHaveLength(hunk.oldLines)
        expect(hunk.lines.filter((line) => /^[ +]/.test(line))).toHaveLength(hunk.newLines)
      }
    }),
    { numRuns: 300 },
  )
})

test('three lines of context, near changes share a hunk, far ones do not', () => {
  const lines = Array.from({ length: 40 }, (_, n) => `l${n + 1}`)
  const change = (...at: number[]): string => lines.map((line, n) => (at.includes(n + 1) ? 'X' : line)).join('\n')
  const near = diffLines(lines.join('\n'), change(10, 17)).hunks
  expect(near).toMatchObject([{ oldStart: 7, oldLines: 14, newStart: 7, newLines: 14 }])
  const far = diffLines(lines.join('\n'), change(10, 18)).hunks
  expect(far.map((hunk) => [hunk.oldStart, hunk.oldLines])).toEqual([
    [7, 7],
    [15, 7],
  ])
})

test('equal texts have no hunks; a lost final newline is one', () => {
  expect(diffLines('a\n', 'a\n').hunks).toEqual([])
  expect(diffLines('a\n', 'a').hunks[0]?.lines).toEqual(['-a', '+a', MARK])
})

test('a card is bounded, its counts are whole', () => {
  const big = Array.from({ length: 200_000 }, (_, n) => `line ${n}`).join('\n')
  const meta = editMeta('/a', big.replaceAll('line', 'old'), big)
  expect(meta).toMatchObject({ added: 200_000, removed: 200_000, truncated: true })
  expect(JSON.stringify(meta).length).toBeLessThan(100_000)
  expect(editMeta('/a', undefined, 'x'.repeat(100_000))).toMatchObject({ created: true, truncated: true, added: 1 })
})
