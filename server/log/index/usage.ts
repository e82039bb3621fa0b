import type { DatabaseSync } from 'node:sqlite'
import type { UsageCounts, UsageReport } from '../../wire/models.ts'
import { BY_SESSION, cellsReader, Counter, type Cell } from './usage-cells.ts'

export interface UsageQuery {
  /** Of this machine's clock, the present one last. */
  days: number
  /** Ms since the epoch. */
  now: number
  cwd?: string
  preset?: string
}

/** What the index alone cannot say is the limit. */
export type IndexedUsage = Omit<UsageReport, 'budget'>

/** One line of the table that is downloaded. */
export interface UsageLine extends UsageCounts {
  day: string
  provider: string
  model: string
  preset: string | null
  cwd: string | null
}

/** What one session spent since a moment; `seq` is that of its last request in it. */
export interface SpentRow {
  session: string
  seq: number
  cost: number
  unpriced: number
}

interface Day {
  name: string
  from: number
  to: number
}

interface Place {
  title: string | null
  cwd: string | null
  preset: string | null
  turns: number
}

const TOP_SESSIONS = 10

/**
 * The days that end with that of `now`, by this machine's clock. One of them may be 23 or 25 hours long: each begins where
 * the clock says midnight, or right after where it has none.
 */
export function localDays(now: number, count: number): Day[] {
  const today = new Date(now)
  const midnight = (back: number): Date => new Date(today.getFullYear(), today.getMonth(), today.getDate() - back)
  return Array.from({ length: count }, (_, index) => {
    const from = midnight(count - 1 - index)
    return { name: dateName(from), from: from.getTime(), to: midnight(count - 2 - index).getTime() }
  })
}

const dateName = (date: Date): string => {
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** Which sessions there are: those in the trash are not, so what they asked for is in no sum. */
function placesOf(database: DatabaseSync): (session: string) => Place {
  const rows = database.prepare('select id, title, cwd, preset, turns from session').all()
  const text = (value: unknown): string | null => (value === null ? null : String(value))
  const places = new Map(
    rows.map(({ id, title, cwd, preset, turns }) => [
      String(id),
      { title: text(title), cwd: text(cwd), preset: text(preset), turns: Number(turns) },
    ]),
  )
  // Its line follows its requests by a moment.
  return (session) => places.get(session) ?? { title: null, cwd: null, preset: null, turns: 0 }
}

export function usageReport(database: DatabaseSync, query: UsageQuery): IndexedUsage {
  const placeOf = placesOf(database)
  const read = cellsReader(database)
  const days = localDays(query.now, query.days)
  const [total, before, today] = [new Counter(), new Counter(), new Counter()]
  const perDay = days.map(() => new Counter())
  const [models, folders, sessions] = [new Groups<Model>(), new Groups<string | null>(), new Groups<string>()]
  const seen = { folders: new Set<string>(), presets: new Set<string>() }
  days.forEach((day, index) => {
    for (const cell of read(day.from, day.to)) {
      const { cwd, preset } = placeOf(cell.session)
      if (cwd !== null) seen.folders.add(cwd)
      if (preset !== null) seen.presets.add(preset)
      if (index === days.length - 1) today.add(cell)
      if (!wanted(query, { cwd, preset })) continue
      total.add(cell)
      perDay[index]!.add(cell)
      const { provider, model } = cell
      models.add(JSON.stringify([provider, model, preset]), { provider, model, preset }, cell)
      folders.add(JSON.stringify(cwd), cwd, cell)
      sessions.add(cell.session, cell.session, cell)
    }
  })
  const earlier = localDays(days[0]!.from - 1, query.days)
  const readBefore = cellsReader(database, BY_SESSION)
  for (const cell of readBefore(earlier[0]!.from, days[0]!.from))
    if (wanted(query, placeOf(cell.session))) before.add(cell)
  return {
    from: days[0]!.name,
    to: days.at(-1)!.name,
    offset: -new Date(query.now).getTimezoneOffset(),
    total: total.view(),
    before: before.view(),
    days: days.map(({ name }, index) => ({ day: name, ...perDay[index]!.view() })),
    rows: models.costliest().map(([model, counter]) => ({ ...model, ...counter.view() })),
    folders: folders.costliest().map(([cwd, counter]) => ({ cwd, ...counter.view() })),
    sessions: sessions
      .costliest()
      .slice(0, TOP_SESSIONS)
      .map(([session, counter]) => {
        const { title, cwd, preset, turns } = placeOf(session)
        return { session, title: title ?? '', cwd, preset, turns, ...counter.view() }
      }),
    filters: { folders: [...seen.folders].toSorted(), presets: [...seen.presets].toSorted() },
    today: { cost: today.cost, unpriced: today.unpriced },
  }
}

/** One line for each day, model, preset and folder with a request, in this order. */
export function usageTable(database: DatabaseSync, query: UsageQuery): UsageLine[] {
  const placeOf = placesOf(database)
  const read = cellsReader(database)
  return localDays(query.now, query.days).flatMap((day) => {
    const groups = new Groups<Model & { cwd: string | null }>()
    for (const cell of read(day.from, day.to)) {
      const { cwd, preset } = placeOf(cell.session)
      if (!wanted(query, { cwd, preset })) continue
      const { provider, model } = cell
      groups.add(JSON.stringify([provider, model, preset, cwd]), { provider, model, preset, cwd }, cell)
    }
    return groups.sorted().map(([group, counter]) => ({ day: day.name, ...group, ...counter.view() }))
  })
}

/** Per session, of requests that ended at `since` or later. */
export const spentSince = (database: DatabaseSync, since: number): SpentRow[] =>
  database
    .prepare(
      `select session_id, max(seq) as seq, sum(cost_input+cost_cache_read+cost_cache_write+cost_output) as cost,
       sum(1-priced) as unpriced from request indexed by request_at where at>=? group by session_id`,
    )
    .all(since)
    .map((row) => ({
      session: String(row['session_id']),
      seq: Number(row['seq']),
      cost: Number(row['cost']),
      unpriced: Number(row['unpriced']),
    }))

interface Model {
  provider: string
  model: string
  preset: string | null
}

const wanted = ({ cwd, preset }: UsageQuery, place: Pick<Place, 'cwd' | 'preset'>): boolean =>
  (cwd === undefined || place.cwd === cwd) && (preset === undefined || place.preset === preset)

class Groups<G> {
  readonly #groups = new Map<string, [G, Counter]>()

  add(key: string, group: G, cell: Cell): void {
    const known = this.#groups.get(key) ?? [group, new Counter()]
    this.#groups.set(key, known)
    known[1].add(cell)
  }

  /** What costs nothing, or nothing that is known, by the number of requests. */
  costliest(): [G, Counter][] {
    return [...this.#groups.values()].toSorted(([, a], [, b]) => b.cost - a.cost || b.requests - a.requests)
  }

  sorted(): [G, Counter][] {
    return [...this.#groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
  }
}
