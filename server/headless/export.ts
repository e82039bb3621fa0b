import { createHash } from 'node:crypto'
import { encodeLine } from '../log/jsonl/line.ts'
import type { Redactor } from '../redact/redact.ts'
import type { SessionStore } from '../log/store.ts'
import { CoreError } from '../wire/errors.ts'
import { exportConversation, exportRequests } from './messages.ts'
import { zip } from './zip.ts'

export const FORMATS = ['raw', 'messages'] as const
export type Format = (typeof FORMATS)[number]

export interface ExportOptions {
  format: Format
  /** `messages`: one line with the whole conversation instead of one line per request. */
  perSession?: boolean
  /** Takes secrets out of every record; the manifest tells how many places. */
  redactor: Redactor
  /** Name and version of this program, for the manifest. */
  writer: string
}

/**
 * A session in a form for other programs. `raw` is a zip of the log (a fork's with the history that it continues) and a
 * manifest with its sha-256; `messages` is JSON lines. Throws `session/not-found`, and `session/corrupt` for a damaged log.
 */
export async function exportSession(store: SessionStore, id: string, options: ExportOptions): Promise<Buffer> {
  const { log, damage } = await store.openRead(id)
  if (damage)
    throw new CoreError(
      'session/corrupt',
      `The log of ${id} is damaged at line ${damage.line}; it is whole up to event ${damage.lastGoodSeq}. Fork the session from there and export the fork.`,
      { sessionId: id, lastGoodSeq: damage.lastGoodSeq },
    )
  const { header, events } = log
  const { redactor } = options
  if (options.format === 'raw') {
    const content = Buffer.from([header, ...events].map((record) => encodeLine(redactor.value(record))).join(''))
    return zip([{ name: 'log.jsonl', content }, manifest(id, content, options)])
  }
  const rows = options.perSession ? [exportConversation(header, events)] : [...exportRequests(header, events)]
  return Buffer.from(rows.map((row) => `${JSON.stringify(redactor.value(row))}\n`).join(''))
}

function manifest(id: string, log: Buffer, { writer, redactor }: ExportOptions) {
  const files = { 'log.jsonl': { bytes: log.length, sha256: createHash('sha256').update(log).digest('hex') } }
  return {
    name: 'manifest.json',
    content: Buffer.from(
      `${JSON.stringify({ format: 'core-web/session', version: 1, session: id, writer, redacted: redactor.count, files }, null, 2)}\n`,
    ),
  }
}
