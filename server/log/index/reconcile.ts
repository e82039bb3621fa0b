import type { Header, LogEvent } from '../../wire/events.ts'
import { fold } from '../../projection/projection.ts'
import { sessionState, type SessionState } from '../../projection/session-state.ts'
import { nodeDisk } from '../jsonl/disk.ts'
import { pageFromDisk } from '../jsonl/page.ts'
import { Places, type SessionFile } from '../jsonl/places.ts'
import { headerOf, loadSession } from '../jsonl/stitch.ts'
import type { Stored } from './columns.ts'
import type { IndexDb } from './index-db.ts'
import { requestsOf } from './requests.ts'
import { docsOf, rowOf, type LoggedRow } from './rows.ts'

/** Bounds of one read, so that a long log does not stand in memory as a whole. */
const PAGE = { maxEvents: 5000, maxBytes: 8 << 20 }

export interface Reconciled {
  /** Logs that were read because their size or time had changed. */
  read: number
  removed: number
}

/**
 * Brings the index in line with the log files: only those whose size or time changed are opened (SL-21, B27). Sessions that are
 * `told` of are ahead of their files for moments, so they are left alone.
 */
export async function reconcile(database: IndexDb, root: string, told: ReadonlySet<string>): Promise<Reconciled> {
  const places = new Places(nodeDisk, root)
  const known = database.files()
  const files = await places.list()
  const result: Reconciled = { read: 0, removed: 0 }
  for (const file of files) {
    if (!told.has(file.id) && (await refreshFile(database, places, file, known.get(file.id)))) result.read++
    known.delete(file.id)
  }
  for (const id of known.keys()) {
    if (told.has(id)) continue
    database.transaction(() => database.clear(id))
    result.removed++
  }
  return result
}

/** True when the log had to be opened. */
export async function refreshFile(
  database: IndexDb,
  places: Places,
  file: SessionFile,
  stored: Stored | undefined,
): Promise<boolean> {
  if (stored?.size === file.size && stored.mtime === file.mtimeMs) return false
  try {
    await follow(database, places, file)
  } catch {
    // The row says "damaged"; opening the session tells the reader what is wrong.
    await storeDamaged(database, places, file)
  }
  return true
}

async function follow(database: IndexDb, places: Places, file: SessionFile): Promise<void> {
  const last = await pageFromDisk(nodeDisk, places, file.id, { maxEvents: 1, maxBytes: 1 })
  const cached = database.stateOf(file.id, sessionState.stateVersion)
  const lastSeq = last.events[0]?.seq ?? -1
  // A cache ahead of its log saw events that never reached the disk: it is discarded (SL-23).
  const usable = cached !== null && cached.seq <= lastSeq
  if (!usable) database.transaction(() => database.clear(file.id))
  let state = usable ? cached : sessionState.init(last.header)
  while (state.seq < lastSeq) {
    const page = await pageFromDisk(nodeDisk, places, file.id, { after: state.seq, ...PAGE })
    if (page.events.length === 0) throw new Error('the log ends before its last event')
    state = advance(database, last.header, state, page.events)
  }
  database.transaction(() => {
    store(database, state, { ...rowOf(state), status: restingStatus(state) })
    database.seen(file.id, file.size, file.mtimeMs)
  })
}

function advance(database: IndexDb, header: Header, from: SessionState, events: readonly LogEvent[]): SessionState {
  let state = from
  for (const event of events) {
    if (event.seq !== state.seq + 1) throw new Error(`event ${state.seq + 1} is missing`)
    state = sessionState.apply(state, event)
  }
  database.transaction(() => {
    database.putDocs(docsOf(header, events))
    database.putRequests(requestsOf(header, events, from.usage.route))
    store(database, state, { ...rowOf(state), status: restingStatus(state) })
  })
  return state
}

/**
 * Takes in what lies on disk between the index and the first event it is told of: a session may be continued before the index
 * has caught up with the files.
 */
export async function fill(
  database: IndexDb,
  places: Places,
  { id, after, before }: { id: string; after: number; before: number },
): Promise<void> {
  for (let last = after; last < before - 1;) {
    const page = await pageFromDisk(nodeDisk, places, id, { after: last, ...PAGE })
    const events = page.events.filter(({ seq }) => seq < before)
    if (events.length === 0) return
    database.transaction(() => {
      database.putDocs(docsOf(page.header, events))
      database.putRequests(requestsOf(page.header, events, null))
    })
    last = events.at(-1)!.seq
  }
}

function store(database: IndexDb, state: SessionState, row: LoggedRow): void {
  database.putRow(row)
  database.putState(state.id, sessionState.stateVersion, state)
}

/** Read from disk and not told by a running session: an open turn there has nobody who runs it, as far as is known here. */
const restingStatus = (state: SessionState): LoggedRow['status'] =>
  state.openTurn ? 'interrupted' : rowOf(state).status

async function storeDamaged(database: IndexDb, places: Places, file: SessionFile): Promise<void> {
  const header = await headerOf(nodeDisk, file.directory)
  const events = header ? await readable(places, header) : []
  const row: LoggedRow = header ? rowOf(fold(sessionState, header, events)) : unreadableRow(file)
  database.transaction(() => {
    database.clear(file.id)
    database.putRow({ ...row, status: 'damaged' })
    // What was spent stays spent.
    if (header) database.putRequests(requestsOf(header, events, null))
    database.seen(file.id, file.size, file.mtimeMs)
  })
}

async function readable(places: Places, header: Header): Promise<readonly LogEvent[]> {
  try {
    return (await loadSession(nodeDisk, places, header.id)).events
  } catch {
    // A format this program cannot read: the header alone makes the row.
    return []
  }
}

const unreadableRow = (file: SessionFile): LoggedRow => ({
  id: file.id,
  created: Math.floor(file.mtimeMs),
  updated: Math.floor(file.mtimeMs),
  lastSeq: -1,
  title: null,
  cwd: null,
  preset: null,
  provider: null,
  model: null,
  status: 'damaged',
  parent: null,
  origin: null,
  turns: 0,
  tokensIn: null,
  tokensOut: null,
})
