import type { StreamRow } from '../wire/events.ts'
import type { Block } from '../wire/messages.ts'

/** One stream delta: block index, offset from dispatch in ms, text; `id` and `n` name the call of a tool block. */
export interface TimedDelta {
  i: number
  k: StreamRow['k']
  at: number
  s: string
  id?: string
  n?: string
}

export interface PackOptions {
  /** Blocks of the same event; row `i` leaves its text out when `blocks[i]` holds exactly that text. */
  blocks?: readonly Block[]
  /** Deltas of one run that lie within this many ms become one. 0 (default) keeps each. */
  frameMs?: number
}

interface Run {
  first: TimedDelta
  last: number
  l: number[]
  d: number[]
  s: string
}

/**
 * One row per run of same-block deltas (SL-02): lengths and gaps instead of one event per delta.
 * Lengths count UTF-16 units, so a cut inside a surrogate pair survives.
 */
export function packRows(deltas: readonly TimedDelta[], options: PackOptions = {}): StreamRow[] {
  const runs = collectRuns(deltas, options.frameMs ?? 0)
  const joined = new Map<number, string>()
  for (const run of runs) joined.set(run.first.i, (joined.get(run.first.i) ?? '') + run.s)
  return runs.map(({ first, l, d, s }) => {
    const known = textOfBlock(options.blocks?.[first.i]) === joined.get(first.i)
    return {
      i: first.i,
      k: first.k,
      ...(first.id !== undefined && { id: first.id }),
      ...(first.n !== undefined && { n: first.n }),
      at: first.at,
      l,
      d,
      ...(!known && { s }),
    }
  })
}

/** The exact inverse of `packRows` without frames. `blocks` are those of the event that holds the rows. */
export function unpackRows(rows: readonly StreamRow[], blocks: readonly Block[] = []): TimedDelta[] {
  const taken = new Map<number, number>()
  return rows.flatMap((row) => {
    const start = taken.get(row.i) ?? 0
    const text = row.s ?? (textOfBlock(blocks[row.i]) ?? '').slice(start)
    let at = row.at
    let from = 0
    const deltas = row.l.map((length, index): TimedDelta => {
      if (index > 0) at += row.d[index - 1]!
      const s = text.slice(from, from + length)
      from += length
      return {
        i: row.i,
        k: row.k,
        at,
        s,
        ...(row.id !== undefined && { id: row.id }),
        ...(row.n !== undefined && { n: row.n }),
      }
    })
    taken.set(row.i, start + from)
    return deltas
  })
}

function collectRuns(deltas: readonly TimedDelta[], frameMs: number): Run[] {
  const runs: Run[] = []
  let run: Run | undefined
  for (const delta of deltas) {
    if (!run || !sameRun(run.first, delta)) {
      run = { first: delta, last: delta.at, l: [delta.s.length], d: [], s: delta.s }
      runs.push(run)
      continue
    }
    run.s += delta.s
    if (delta.at - run.last < frameMs) {
      run.l[run.l.length - 1]! += delta.s.length
      continue
    }
    run.l.push(delta.s.length)
    run.d.push(delta.at - run.last)
    run.last = delta.at
  }
  return runs
}

const sameRun = (a: TimedDelta, b: TimedDelta): boolean => a.i === b.i && a.k === b.k && a.id === b.id && a.n === b.n

function textOfBlock(block: Block | undefined): string | undefined {
  if (!block) return undefined
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.text
    case 'tool-call':
      return block.arguments
    case 'image':
    case 'tool-result':
      return undefined
  }
}
