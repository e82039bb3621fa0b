import { CoreError } from '../../wire/errors.ts'
import { draft, type Header, type LogEvent } from '../../wire/events.ts'
import { agentPreset } from '../../projection/agent-preset.ts'
import { fold } from '../../projection/projection.ts'
import { closers } from '../closers.ts'
import type { SessionLog } from '../session-log.ts'
import { crcOf } from './line.ts'
import { LOG_VERSION } from './upgrade.ts'

export interface ForkOptions {
  /** Id of the child. */
  id: string
  /** Last event it inherits; default: the latest `turn/end`. */
  at?: number
  /** Default: the preset that held at that event. */
  agentPreset?: string
  /** Copy the prefix instead of referring to it. */
  detach?: boolean
}

export interface ForkSource {
  header: Header
  events: readonly LogEvent[]
}

/** The `seq` a fork is made at; throws `session/fork-unavailable` when there is nothing to fork there. */
export function forkPoint(source: ForkSource, at: number | undefined): number {
  const seq = at ?? source.events.findLastIndex((event) => event.type === 'turn/end')
  if (Number.isInteger(seq) && seq >= 0 && seq < source.events.length) return seq
  throw new CoreError(
    'session/fork-unavailable',
    at === undefined
      ? 'This session has no finished turn yet, so there is nothing to fork.'
      : `This session has no event ${at}; its last one is ${source.events.length - 1}.`,
    { sessionId: source.header.id },
  )
}

export function forkHeader(
  source: ForkSource,
  seq: number,
  options: ForkOptions & { now: number; writer: string },
): Header {
  const preset = options.agentPreset ?? fold(agentPreset, source.header, source.events.slice(0, seq + 1)).current
  return {
    type: 'session',
    version: LOG_VERSION,
    id: options.id,
    createdAt: options.now,
    ...(source.header.cwd !== undefined && { cwd: source.header.cwd }),
    parentSession: source.header.id,
    isSeeded: true,
    ...(!options.detach && { seedSeq: seq, seedCrc: crcOf(source.events[seq]!) }),
    ...(preset !== null && { agentPreset: preset }),
    writer: options.writer,
  }
}

/** The child's own first events: the boundary, and the end of a turn that the prefix leaves open. */
export function appendForkStart(log: SessionLog, newId: () => string): void {
  log.append(draft('session/end-seed', { inherited: true }))
  const drafts = closers(log.events, { reason: 'forked', newId })
  if (drafts.length > 0) log.appendRepair(...drafts)
}

/** The header of a session that no longer leans on its parent's file. */
export function detachedHeader(header: Header): Header {
  const { seedSeq: _seq, seedCrc: _crc, ...rest } = header
  return rest
}
