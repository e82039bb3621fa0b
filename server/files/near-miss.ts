import { cutText } from './lines.ts'

/** Characters of a file beyond which a hint is not worth the time it would hold up other sessions (measured: 0.1 s each). */
const SPACED_LIMIT = 2_000_000
const SIMILAR_LIMIT = 500_000
const SHOWN = 200
/** Share of common letter pairs under which a line is no help. */
const SIMILAR = 0.5

const squeeze = (line: string): string => line.replace(/\s+/g, '')
const show = (line: string): string => JSON.stringify(cutText(line, SHOWN)) + (line.length > SHOWN ? '…' : '')

function pairs(text: string): Map<string, number> {
  const found = new Map<string, number>()
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2)
    found.set(pair, (found.get(pair) ?? 0) + 1)
  }
  return found
}

/** Dice coefficient over letter pairs, 0 to 1. */
function similarity(wanted: Map<string, number>, wantedSize: number, line: string): number {
  if (line.length < 2) return 0
  let common = 0
  for (const [pair, times] of pairs(line)) common += Math.min(times, wanted.get(pair) ?? 0)
  return (2 * common) / (wantedSize + line.length - 1)
}

function sameButWhitespace(fileLines: string[], wanted: string[]): number {
  const first = wanted.findIndex((line) => line !== '')
  if (first < 0) return -1
  return fileLines.findIndex(
    (line, at) =>
      squeeze(line) === wanted[first] &&
      at >= first &&
      wanted.every((each, offset) => squeeze(fileLines[at - first + offset] ?? '\0') === each),
  )
}

function mostSimilar(fileLines: string[], wanted: string): number {
  const limit = Math.max(200, wanted.length * 3)
  const wantedPairs = pairs(wanted)
  let best = -1
  let bestScore = SIMILAR
  for (const [at, raw] of fileLines.entries()) {
    const line = squeeze(raw)
    if (line.length > limit) continue
    const score = similarity(wantedPairs, wanted.length - 1, line)
    if (score <= bestScore) continue
    best = at
    bestScore = score
  }
  return best
}

/**
 * One sentence that points at the place the caller probably meant, with both spellings quoted so that a difference in
 * whitespace can be seen; empty when nothing in the file is close.
 */
export function nearMiss(text: string, oldText: string): string {
  if (text.length > SPACED_LIMIT) return ''
  const fileLines = text.split('\n')
  const oldLines = oldText.split('\n')
  const wanted = oldLines.map(squeeze)
  const spaced = sameButWhitespace(fileLines, wanted)
  if (spaced >= 0) {
    const start = spaced - wanted.findIndex((line) => line !== '')
    const differs = Math.max(
      0,
      oldLines.findIndex((line, offset) => line !== fileLines[start + offset]),
    )
    return (
      `The text at line ${start + 1} differs only in whitespace or line endings. ` +
      `Line ${start + differs + 1} is ${show(fileLines[start + differs] ?? '')}, you gave ${show(oldLines[differs] ?? '')}.`
    )
  }
  if (text.length > SIMILAR_LIMIT) return ''
  const longest = wanted.reduce((best, line, at) => (line.length > (wanted[best]?.length ?? 0) ? at : best), 0)
  if ((wanted[longest]?.length ?? 0) < 2) return ''
  const at = mostSimilar(fileLines, wanted[longest] ?? '')
  if (at < 0) return ''
  return `The closest line is ${at + 1}: ${show(fileLines[at] ?? '')}, you gave ${show(oldLines[longest] ?? '')}.`
}
