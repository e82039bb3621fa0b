import { join } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import { firstUnknown, type Vocabulary } from '../vocabulary.ts'
import type { Disk } from './disk.ts'
import type { Stored } from './jsonl-writer.ts'
import type { Places } from './places.ts'
import { LOG, quietly, replaceLog } from './publish.ts'
import { cutTorn, refuseDamage } from './repair.ts'
import { loadSession, type Loaded } from './stitch.ts'
import { LOG_VERSION } from './upgrade.ts'

export interface OpenStored {
  disk: Disk
  places: Places
  id: string
  directory: string
  vocabulary: Vocabulary
  /** Before a rewrite that changes the bytes which children are checked against. */
  detachChildren: () => Promise<void>
}

/** An owned session's file, checked, cut back to its last good line, brought to this format, open for appending. */
export async function openStored(
  options: OpenStored,
): Promise<{ stored: Stored; loaded: Loaded; torn: string | null; upgradedFrom: number | null }> {
  const { disk, directory, id } = options
  const loaded = await loadSession(disk, options.places, id)
  refuseDamage(id, loaded.damage)
  refuseUnknown(id, loaded, options.vocabulary)
  const file = await disk.open(join(directory, LOG), 'r+')
  try {
    const torn = await cutTorn(disk, directory, file, loaded.own)
    const seq = loaded.events.length - 1
    if (loaded.version === LOG_VERSION) {
      return { stored: { file, length: loaded.own.goodLength, seq }, loaded, torn, upgradedFrom: null }
    }
    await options.detachChildren()
    await file.close()
    return { stored: await rewriteUpgraded(options, loaded, seq), loaded, torn, upgradedFrom: loaded.version }
  } catch (error) {
    await quietly(file.close())
    throw error
  }
}

/** The old file stays as `log.v<n>.bak` (SL-17). */
async function rewriteUpgraded(options: OpenStored, loaded: Loaded, seq: number): Promise<Stored> {
  const { disk, directory } = options
  const backup = join(directory, `log.v${loaded.version}.bak`)
  await quietly(disk.unlink(backup))
  await disk.link(join(directory, LOG), backup)
  const own = loaded.events.slice((loaded.header.seedSeq ?? -1) + 1)
  const { file, length } = await replaceLog(disk, directory, loaded.header, own)
  return { file, length, seq }
}

function refuseUnknown(id: string, loaded: Loaded, vocabulary: Vocabulary): void {
  const unknown = firstUnknown(loaded.events, vocabulary)
  if (!unknown) return
  const remedy = unknown.needs
    ? `It needs the plugin ${unknown.needs}: install it`
    : 'Upgrade core-web or install the plugin that wrote it'
  throw new CoreError(
    'session/read-only',
    `Session ${id} holds events of the unknown type ${unknown.type}. ${remedy}, or open the session read-only.`,
    { sessionId: id, type: unknown.type, ...(unknown.needs && { needs: unknown.needs }) },
  )
}
