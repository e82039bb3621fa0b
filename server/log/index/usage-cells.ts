import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { UsageCounts } from '../../wire/models.ts'

/** What one session asked of one model in a span of time. */
export interface Cell {
  session: string
  provider: string
  model: string
  sums: { [name in (typeof SUMS)[number]]: number | null }
  /** Milliseconds to the first token of each answer that was timed. */
  firstMs: Float64Array | null
}

/** Null where nobody reported the count. */
const SUMS = [
  'requests',
  'failed',
  'retried',
  'input',
  'cache_read',
  'cache_write',
  'output',
  'reasoning',
  'cost_input',
  'cost_cache_read',
  'cost_cache_write',
  'cost_output',
  'saved',
  'unpriced',
] as const

const SPECIAL: Partial<Record<(typeof SUMS)[number], string>> = { requests: 'count(*)', unpriced: 'sum(1-priced)' }

const select = (names: string): string =>
  `select ${names}, ${SUMS.map((name) => `${SPECIAL[name] ?? `sum(${name})`} as ${name}`).join(', ')},
  group_concat(first_ms) as first from request indexed by request_at where at>=? and at<?`

/** One pass over the requests of the span by the index on `at`, whatever else the table holds. */
export const CELLS = `${select('session_id, provider, model')} group by session_id, provider, model`

/** The same without telling models apart. */
export const BY_SESSION = `${select("session_id, '' as provider, '' as model")} group by session_id`

/** `from` inclusive, `to` exclusive, in ms since the epoch. */
export function cellsReader(database: DatabaseSync, sql: string = CELLS): (from: number, to: number) => Cell[] {
  const statement = database.prepare(sql)
  return (from, to) => statement.all(from, to).map(cellOf)
}

function cellOf(row: Record<string, SQLOutputValue>): Cell {
  const sums = {} as Cell['sums']
  for (const name of SUMS) sums[name] = row[name] === null ? null : Number(row[name])
  return {
    session: String(row['session_id']),
    provider: String(row['provider']),
    model: String(row['model']),
    sums,
    firstMs: row['first'] === null ? null : Float64Array.from(String(row['first']).split(','), Number),
  }
}

/** Adds cells up. */
export class Counter {
  readonly #sums = {} as Cell['sums']
  readonly #times: Float64Array[] = []
  #timed = 0

  constructor() {
    for (const name of SUMS) this.#sums[name] = null
  }

  add(cell: Cell): void {
    for (const name of SUMS) {
      const value = cell.sums[name]
      if (value !== null) this.#sums[name] = (this.#sums[name] ?? 0) + value
    }
    if (cell.firstMs === null) return
    this.#times.push(cell.firstMs)
    this.#timed += cell.firstMs.length
  }

  get cost(): number {
    const { cost_input, cost_cache_read, cost_cache_write, cost_output } = this.#sums
    return (cost_input ?? 0) + (cost_cache_read ?? 0) + (cost_cache_write ?? 0) + (cost_output ?? 0)
  }

  get requests(): number {
    return this.#sums.requests ?? 0
  }

  get unpriced(): number {
    return this.#sums.unpriced ?? 0
  }

  view(): UsageCounts {
    const sums = this.#sums
    const firstMs = this.#median()
    return {
      requests: this.requests,
      failed: sums.failed ?? 0,
      retried: sums.retried ?? 0,
      ...(sums.input !== null && { inputTokens: sums.input }),
      ...(sums.cache_read !== null && { cacheReadTokens: sums.cache_read }),
      ...(sums.cache_write !== null && { cacheWriteTokens: sums.cache_write }),
      ...(sums.output !== null && { outputTokens: sums.output }),
      ...(sums.reasoning !== null && { reasoningTokens: sums.reasoning }),
      cost: {
        input: sums.cost_input ?? 0,
        cacheRead: sums.cost_cache_read ?? 0,
        cacheWrite: sums.cost_cache_write ?? 0,
        output: sums.cost_output ?? 0,
        total: this.cost,
      },
      unpriced: this.unpriced,
      saved: sums.saved ?? 0,
      ...(firstMs !== undefined && { firstMs }),
    }
  }

  #median(): number | undefined {
    if (this.#timed === 0) return undefined
    const times = new Float64Array(this.#timed)
    let at = 0
    for (const some of this.#times) {
      times.set(some, at)
      at += some.length
    }
    times.sort()
    const middle = times.length >> 1
    return times.length % 2 === 1 ? times[middle]! : (times[middle - 1]! + times[middle]!) / 2
  }
}
