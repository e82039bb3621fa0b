import { join } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import { inbox } from '../../projection/inbox.ts'
import { closers } from '../closers.ts'
import type { SessionLog } from '../session-log.ts'
import { readFully, writeFully, type Disk, type DiskFile } from './disk.ts'
import { readJournal } from './journal.ts'
import { exists, JOURNAL, quietly } from './publish.ts'
import { recoveredAnswer, type Assemble } from './recover.ts'
import type { Scan } from './scan.ts'

export interface Repaired {
  /** File that holds the torn end which was cut off. */
  torn: string | null
  /** A cut-off answer was taken over from the journal. */
  journal: boolean
  /** Events added to end an open tail. */
  closers: number
  upgradedFrom: number | null
}

export function refuseDamage(id: string, damage: { line: number; lastGoodSeq: number; what: string } | null): void {
  if (!damage) return
  throw new CoreError(
    'session/corrupt',
    `The log of session ${id} is damaged at line ${damage.line}: ${damage.what}. ` +
      `Open it read-only up to event ${damage.lastGoodSeq}, or fork it from the last good turn.`,
    { sessionId: id, line: damage.line, lastGoodSeq: damage.lastGoodSeq, what: damage.what },
  )
}

/** Keeps what follows the last good line beside the log, then cuts it off (SL-10). Returns the kept file's name. */
export async function cutTorn(disk: Disk, directory: string, file: DiskFile, scan: Scan): Promise<string | null> {
  if (!scan.torn) return null
  const fragment = await readFully(file, scan.goodLength, scan.size - scan.goodLength)
  let number = 1
  while (await exists(disk, join(directory, `log.torn-${number}`))) number++
  const name = `log.torn-${number}`
  const kept = await disk.open(join(directory, name), 'wx')
  try {
    await writeFully(kept, fragment, 0)
    await kept.sync()
  } finally {
    await kept.close()
  }
  await file.truncate(scan.goodLength)
  await file.datasync()
  return name
}

/** Ends what a dead process left open, on disk when it resolves. Doing it twice adds nothing. */
export async function closeTail(
  disk: Disk,
  directory: string,
  log: SessionLog,
  options: { assemble: Assemble; newId: () => string },
): Promise<{ journal: boolean; closers: number }> {
  const path = join(directory, JOURNAL)
  const answer = recoveredAnswer(log.events, await readJournal(disk, path), options)
  if (answer) log.appendRepair(answer)
  const drafts = closers(log.events, {
    reason: 'interrupted',
    newId: options.newId,
    inbox: log.state(inbox),
  })
  if (drafts.length > 0) log.appendRepair(...drafts)
  if (answer || drafts.length > 0) await log.barrier()
  await quietly(disk.unlink(path))
  return { journal: answer !== null, closers: drafts.length }
}
