import type { LogEvent } from '../../wire/events.ts'

/** `strict`: every barrier syncs. `batch`: only one that covers a turn's end. `relaxed`: none; for throw-away runs (SL-06). */
export type Durability = 'strict' | 'batch' | 'relaxed'

export function needsSync(durability: Durability, unsynced: Iterable<LogEvent>): boolean {
  if (durability === 'strict') return true
  if (durability === 'relaxed') return false
  for (const event of unsynced) if (event.type === 'turn/end') return true
  return false
}
