import { CoreError } from '../../wire/errors.ts'
import type { Header, LogEvent } from '../../wire/events.ts'

/** What this program writes; readers convert older files in memory (SL-17). */
export const LOG_VERSION = 1

interface Versioned {
  header: Header
  events: LogEvent[]
}

/** `UPGRADES[n]` turns version n into n + 1. 0 to 1 changes nothing but the number: it keeps the chain honest. */
const UPGRADES: readonly ((log: Versioned) => Versioned)[] = [(log) => log]

export function upgrade(log: Versioned): Versioned {
  const { version } = log.header
  if (version > LOG_VERSION) {
    throw new CoreError(
      'session/read-only',
      `This session was written by a newer version (log format ${version}, this program reads up to ${LOG_VERSION}). ` +
        'Upgrade core-web to open it.',
      { version, supported: LOG_VERSION },
    )
  }
  if (version === LOG_VERSION) return log
  let current = log
  for (const step of UPGRADES.slice(version)) current = step(current)
  return { ...current, header: Object.freeze({ ...current.header, version: LOG_VERSION }) }
}
