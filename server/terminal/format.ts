import { never } from '../wire/never.ts'
import { spillText } from './spill.ts'
import type { CallEnd, CallResult, Notice } from './result.ts'

export interface BashText {
  text: string
  isError: boolean
}

const FRESH = 'The next call starts a fresh shell.'
const KEPT = 'The shell was kept: directory, variables and jobs are as the command left them.'
const LOST = `The shell had to be ended. ${FRESH}`

/** What the model reads of one call: notices, output (head and tail of at most `maxOutputChars`), how it ended. */
export function formatBashResult(result: CallResult, maxOutputChars = 16_000): BashText {
  const { end, notices } = result
  const head = [...notices].toSorted((a, b) => RANK[a.kind] - RANK[b.kind]).filter(({ kind }) => kind !== 'degraded')
  const tail = notices.filter(({ kind }) => kind === 'degraded')
  const parts = [
    ...head.map(noticeText),
    shownOutput(result, maxOutputChars),
    endText(end, result),
    ...tail.map(noticeText),
  ].filter((part) => part !== '')
  return { text: parts.length > 0 ? parts.join('\n') : '[no output]', isError: isError(end) }
}

const RANK: Record<Notice['kind'], number> = { 'new-shell': 0, replaced: 1, between: 2, degraded: 3 }

function noticeText(notice: Notice): string {
  switch (notice.kind) {
    case 'new-shell':
      return `[new shell: ${notice.reason}; directory ${notice.directory}, variables and jobs are gone]`
    case 'replaced':
      return `[the previous shell was replaced: ${notice.why}]`
    case 'between':
      return `[output of background jobs since the last call]\n${notice.text.trimEnd()}\n[end of background output]`
    case 'degraded':
      return `[${notice.why}; the next call starts a fresh shell]`
    default:
      return never(notice)
  }
}

/** An exit code is for the model to judge; an error is what kept the command from ending by itself. */
function isError(end: CallEnd): boolean {
  return end.kind !== 'completed' && !(end.kind === 'exited' && end.signal === undefined)
}

function endText(end: CallEnd, { notRun, timeoutMs }: CallResult): string {
  switch (end.kind) {
    case 'completed':
      if (end.exitCode === undefined) return '[exit code: unknown]'
      return end.exitCode === 0 ? '' : `[exit code: ${end.exitCode}]`
    case 'exited':
      return `${exitText(end)}\n${FRESH}`
    case 'timeout':
      return `[timed out: the limit is ${timeoutMs / 1000} s; the command was interrupted]\n${end.stateKept ? KEPT : LOST}`
    case 'cancelled':
      if (notRun) return '[cancelled before it ran]'
      return `[cancelled]\n${end.stateKept ? KEPT : LOST}`
    case 'needs-input':
      return `[interrupted: the command waited for input, and there is nobody to give it]\n${end.stateKept ? KEPT : LOST}`
    case 'failed':
      return `[no shell could be started: ${end.reason}]`
    case 'refused':
      return `[not run] ${end.reason}`
    default:
      return never(end)
  }
}

function exitText({ exitCode, signal }: { exitCode?: number; signal?: string }): string {
  if (signal !== undefined) return `[shell killed by signal: ${signal}]`
  return exitCode === undefined ? '[shell exited]' : `[shell exited: code ${exitCode}]`
}

function shownOutput({ output, seam, omitted, totalBytes, binary, spill }: CallResult, most: number): string {
  const where = spill ? `; ${spillText(spill)}` : ''
  if (binary) return `[binary output, ${totalBytes} bytes${where}]`
  if (omitted === 0 && output.length <= most) return output.trimEnd()
  const half = Math.floor(most / 2)
  const head = seam === undefined ? output : output.slice(0, seam)
  const tail = seam === undefined ? output : output.slice(seam)
  const first = head.slice(0, atCodePoint(head, Math.min(half, head.length), -1))
  const from = atCodePoint(tail, Math.max(0, tail.length - (most - half)), 1)
  const last = tail.slice(from)
  return `${first.trimEnd()}\n\n[${gap(output.length - first.length - last.length, omitted)}${where}]\n\n${last.trimEnd()}`
}

/** Bytes that were never decoded have no count of characters. */
function gap(characters: number, bytes: number): string {
  if (bytes === 0) return `${characters} characters omitted`
  return characters > 0 ? `${characters} characters and ${bytes} more bytes omitted` : `${bytes} bytes omitted`
}

/** Moves a cut out of the middle of a surrogate pair, to the side that shows less. */
function atCodePoint(text: string, at: number, side: -1 | 1): number {
  const unit = text.charCodeAt(at - 1)
  return at > 0 && at < text.length && unit >= 0xd800 && unit <= 0xdbff ? at + side : at
}
