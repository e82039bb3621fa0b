import { join } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import type { Header, LogEvent } from '../../wire/events.ts'
import { isErrno, readFully, type Disk, type DiskFile } from './disk.ts'
import { crcOf, decodeLine, NEWLINE } from './line.ts'
import type { Places } from './places.ts'
import { LOG } from './publish.ts'
import { scanLog, type Damage, type Scan, type ScanOptions } from './scan.ts'
import { upgrade } from './upgrade.ts'

export interface Loaded {
  header: Header
  /** From seq 0 on, an inherited prefix included. */
  events: LogEvent[]
  own: Scan
  damage: Damage | null
  /** Format version on disk. */
  version: number
  /** Number of parents the prefix comes from. */
  depth: number
}

/** Longer chains are copied instead (SL-20). */
export const MAX_DEPTH = 32
/** Against a ring of headers, which no writer of ours makes. */
const RING = 1000

export const notFound = (id: string): CoreError =>
  new CoreError('session/not-found', `There is no session ${id}.`, { sessionId: id })

export async function withFile<T>(disk: Disk, path: string, work: (file: DiskFile) => Promise<T>): Promise<T> {
  const file = await disk.open(path, 'r')
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

/** Reads a session and, for a fork, the prefix in its parents' files; never throws for damage, only for a missing file. */
export async function loadSession(disk: Disk, places: Places, id: string, options: ScanOptions = {}): Promise<Loaded> {
  const directory = await places.find(id)
  if (!directory) throw notFound(id)
  const own = await withFile(disk, join(directory, LOG), (file) => scanLog(file, options))
  if (!own.header) {
    throw new CoreError('session/corrupt', `The log of session ${id} has no readable header.`, {
      sessionId: id,
      line: 1,
    })
  }
  const version = own.header.version
  const stitched = await stitch(disk, places, own.header, own.events)
  const { header, events } = upgrade({ header: own.header, events: stitched.events })
  return { header, events, own, damage: stitched.damage ?? own.damage, version, depth: stitched.depth }
}

interface Link {
  id: string
  seedSeq: number
  seedCrc: string
}

const linkOf = (header: Header): Link | null =>
  header.parentSession !== undefined && header.seedSeq !== undefined
    ? { id: header.parentSession, seedSeq: header.seedSeq, seedCrc: header.seedCrc ?? '' }
    : null

async function stitch(
  disk: Disk,
  places: Places,
  header: Header,
  own: LogEvent[],
): Promise<{ events: LogEvent[]; damage: Damage | null; depth: number }> {
  const links: Link[] = []
  const pieces = [own]
  let limit = Infinity
  for (let link = linkOf(header); link && links.length < RING;) {
    links.push(link)
    limit = Math.min(limit, link.seedSeq)
    const parent = await readParent(disk, places, link.id)
    if (!parent?.header) return broken(`its parent session ${link.id} cannot be read`, links.length)
    const reach = limit
    pieces.push(parent.events.filter((event) => event.seq <= reach))
    link = linkOf(parent.header)
  }
  const events = pieces.toReversed().flat()
  const gap = events.findIndex((event, index) => event.seq !== index)
  if (gap >= 0) return broken(`event ${gap} of its parents is missing`, links.length)
  const wrong = links.find((link) => crcOf(events[link.seedSeq] ?? {}) !== link.seedCrc)
  if (wrong) return broken(`its parent session ${wrong.id} is not the one it was forked from`, links.length)
  return { events, damage: null, depth: links.length }
}

/** Nothing can be shown: own events without the prefix they follow would be numbered wrongly. */
const broken = (what: string, depth: number): { events: LogEvent[]; damage: Damage; depth: number } => ({
  events: [],
  damage: { line: 1, lastGoodSeq: -1, what },
  depth,
})

async function readParent(disk: Disk, places: Places, id: string): Promise<Scan | null> {
  const directory = await places.find(id)
  return directory ? withFile(disk, join(directory, LOG), (file) => scanLog(file)) : null
}

/** The first line alone, with its length in bytes; null when it is damaged. */
export async function readHeader(file: DiskFile): Promise<{ header: Header; length: number } | null> {
  for (let size = 4096; ; size *= 4) {
    const bytes = await readFully(file, 0, size)
    const end = bytes.indexOf(NEWLINE)
    if (end < 0 && bytes.length === size) continue
    const record = end < 0 ? undefined : decodeLine(bytes.subarray(0, end))
    if (!record || record['type'] !== 'session') return null
    return { header: Object.freeze(record) as unknown as Header, length: end + 1 }
  }
}

export async function headerOf(disk: Disk, directory: string): Promise<Header | null> {
  try {
    return (await withFile(disk, join(directory, LOG), readHeader))?.header ?? null
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'EISDIR')) return null
    throw error
  }
}
