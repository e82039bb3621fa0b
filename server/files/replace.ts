import { hasBareLf, lineEndings, toCrlf } from './eol.ts'
import { FsError } from './fs.ts'
import { nearMiss } from './near-miss.ts'
import { ArgumentError } from './outcome.ts'

export interface Replacement {
  path: string
  old: string
  new: string
  /** What the caller's parameters are called, for messages. */
  names: { old: string; new: string }
  all?: boolean
}

export interface Replaced {
  text: string
  /** 1-based first line of the (first) change, and the number of places. */
  line: number
  places: number
}

const MAX_MATCHES = 1000
const MAX_LINES_NAMED = 20

/** Starts of every match, overlapping ones counted, at most MAX_MATCHES. */
function starts(text: string, needle: string, step: number): number[] {
  const found: number[] = []
  for (let at = text.indexOf(needle); at >= 0 && found.length < MAX_MATCHES; at = text.indexOf(needle, at + step))
    found.push(at)
  return found
}

function lineNumbers(text: string, positions: number[]): number[] {
  let line = 1
  let from = 0
  return positions.map((position) => {
    for (let lf = text.indexOf('\n', from); lf >= 0 && lf < position; lf = text.indexOf('\n', lf + 1)) {
      line++
      from = lf + 1
    }
    return line
  })
}

const list = (lines: number[]): string => {
  const named = lines.slice(0, MAX_LINES_NAMED).join(', ')
  return lines.length > MAX_LINES_NAMED ? `${named} and more` : named
}

/** In a file of CRLF lines the caller's LF means CRLF; a text that spells CRLF itself is taken literally. */
function spelling(text: string, replacement: Replacement): { old: string; new: string } {
  const { old, new: fresh } = replacement
  if (!lineEndings(text).crlfOnly) return { old, new: fresh }
  if (!old.includes('\n')) return { old, new: toCrlf(fresh) }
  // Also where the text occurs as it stands: it can only begin with LF, and replacing that would leave a lone CR.
  if (hasBareLf(old)) return { old: toCrlf(old), new: toCrlf(fresh) }
  return { old, new: fresh }
}

/**
 * Literal replacement; every byte outside the matches stays. Exactly one match, unless `all`.
 * FS_EDIT_NOT_FOUND names the closest line, FS_AMBIGUOUS_EDIT the first line of every match.
 */
export function replaceText(text: string, replacement: Replacement): Replaced {
  const { path, names } = replacement
  if (replacement.old === '') throw new ArgumentError(`${names.old} is empty: give the text to be replaced.`)
  if (replacement.old === replacement.new)
    throw new ArgumentError(`${names.old} and ${names.new} are equal: there is nothing to change.`)
  const { old, new: fresh } = spelling(text, replacement)
  const matches = starts(text, old, 1)
  const [first] = matches
  if (first === undefined)
    throw new FsError(
      'FS_EDIT_NOT_FOUND',
      `${names.old} was not found in ${path}; nothing was changed. ${nearMiss(text, replacement.old)}`.trimEnd(),
    )
  const [line = 1] = lineNumbers(text, [first])
  if (old === fresh)
    throw new ArgumentError(`${names.old} and ${names.new} are equal here: there is nothing to change.`)
  if (replacement.all) {
    const parts = text.split(old)
    return { text: parts.join(fresh), line, places: parts.length - 1 }
  }
  if (matches.length > 1)
    throw new FsError(
      'FS_AMBIGUOUS_EDIT',
      `${names.old} occurs ${matches.length === MAX_MATCHES ? `at least ${MAX_MATCHES}` : matches.length} times in ${path}, ` +
        `starting at lines ${list(lineNumbers(text, matches))}; nothing was changed. Add surrounding lines so that it is unique.`,
    )
  return { text: text.slice(0, first) + fresh + text.slice(first + old.length), line, places: 1 }
}
