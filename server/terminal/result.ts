import { never } from '../wire/never.ts'
import type { Outcome } from './call.ts'
import type { ShellCall } from './shell.ts'
import type { Spilled } from './spill.ts'

export type NewShellReason = 'restart' | 'idle' | 'death' | 'mode'

export type CallEnd =
  /** `exitCode` is missing when the command removed the record of it. */
  | { kind: 'completed'; exitCode?: number }
  | { kind: 'exited'; exitCode?: number; signal?: string }
  | { kind: 'timeout' | 'cancelled' | 'needs-input'; stateKept: boolean }
  /** No shell could be started; `output` says what was said meanwhile. */
  | { kind: 'failed'; reason: string }
  /** The session's policy allows no shell on this machine; nothing has run. */
  | { kind: 'refused'; code: string; reason: string }

/** What the model has to know beside the output, in this order at the head of the result. */
export type Notice =
  | { kind: 'new-shell'; reason: NewShellReason; directory: string }
  /** The shell before could not be used; `why` goes on after "the previous shell was replaced:". */
  | { kind: 'replaced'; why: string }
  /** Text of background jobs that arrived since the last result. */
  | { kind: 'between'; text: string }
  /** The shell will be replaced before the next call. */
  | { kind: 'degraded'; why: string }

export interface CallResult {
  end: CallEnd
  /** Cleaned text. Of a long output head and tail; `seam` is where they meet. */
  output: string
  seam?: number
  /** Bytes left out at the seam. */
  omitted: number
  totalBytes: number
  binary?: boolean
  notices: Notice[]
  /** The file with the whole output, where the result holds a part of it. */
  spill?: Spilled
  /** Cancelled while it waited: nothing of the command has run. */
  notRun?: true
  /** The limit that held for this call, milliseconds. */
  timeoutMs: number
  /** Duration without the time in the queue, milliseconds. */
  ms: number
}

export const NOTHING = { output: '', omitted: 0, totalBytes: 0 }

export const notRun = (): CallResult => ({
  ...NOTHING,
  end: { kind: 'cancelled', stateKept: true },
  notRun: true,
  notices: [],
  timeoutMs: 0,
  ms: 0,
})

export function outputOf({ output, seam, omitted, totalBytes, binary, spill }: ShellCall) {
  const whole = { output, omitted, totalBytes, ...(seam !== undefined && { seam }) }
  return { ...whole, ...(binary && { binary }), ...(spill && { spill }) }
}

export function endOf(outcome: Outcome): CallEnd {
  switch (outcome.kind) {
    case 'completed':
      return { kind: 'completed', ...(outcome.exitCode !== undefined && { exitCode: outcome.exitCode }) }
    case 'exited':
      return { kind: 'exited', ...outcome.exit }
    case 'interrupted':
      return { kind: outcome.reason, stateKept: outcome.stateKept }
    case 'not-started':
      return { kind: 'failed', reason: outcome.why }
    default:
      return never(outcome)
  }
}
