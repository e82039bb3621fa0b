import { z } from 'zod'
import { defineTool, text, type Tool, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { admittedTarget } from './admitted.ts'
import type { Fs } from './fs.ts'
import { cutText, numbered } from './lines.ts'
import { ArgumentError, callOptions, count, outcome } from './outcome.ts'

export const READ_LINES = 2000
/** Characters of one line. */
export const READ_LINE_CHARS = 2000
/** Bytes of one result, the footer apart. */
export const READ_BYTES = 50 * 1024

const schema = z.strictObject({
  file_path: z.string().min(1).describe('Path of the text file, absolute or relative to the working directory.'),
  offset: z
    .number()
    .optional()
    .meta({ type: 'integer', description: 'First line to read, counted from 1. Default 1.' }),
  limit: z
    .number()
    .optional()
    .meta({ type: 'integer', description: `How many lines to read, at most ${READ_LINES}. Default ${READ_LINES}.` }),
})

const DESCRIPTION = `Reads a text file with line numbers, up to ${READ_LINES} lines at once; \`offset\` and \`limit\` page through longer files. Lines over ${READ_LINE_CHARS} characters are cut. The line numbers are not part of the text.`

/** One page of numbered rows out of a stream; `push` returns false when the page is full and more is known to follow. */
class Page {
  rows: string[] = []
  more = false
  /** Line being collected; after the end of the stream, one more than the file has. */
  line = 1
  #bytes = 0
  #open = false
  #held = ''
  #long = false
  readonly #from: number
  readonly #limit: number

  constructor(from: number, limit: number) {
    this.#from = from
    this.#limit = limit
  }

  push(piece: string): boolean {
    for (let at = 0; at < piece.length;) {
      if (this.rows.length === this.#limit) {
        this.more = true
        return false
      }
      const lf = piece.indexOf('\n', at)
      this.#open = true
      if (this.line >= this.#from) this.#hold(piece.slice(at, lf < 0 ? undefined : lf))
      if (lf < 0) return true
      if (!this.#close()) return false
      at = lf + 1
    }
    return true
  }

  #hold(text: string): void {
    const joined = this.#held + text.slice(0, READ_LINE_CHARS + 1)
    this.#long ||= joined.length > READ_LINE_CHARS
    this.#held = cutText(joined, READ_LINE_CHARS)
  }

  #close(): boolean {
    if (this.line >= this.#from) {
      const row = numbered(this.line, this.#held) + (this.#long ? ' [line cut]' : '')
      const size = Buffer.byteLength(row) + 1
      if (this.#bytes + size > READ_BYTES) {
        this.more = true
        return false
      }
      this.rows.push(row)
      this.#bytes += size
    }
    this.line++
    this.#held = ''
    this.#long = false
    this.#open = false
    return true
  }

  end(): void {
    if (this.#open && !this.more) this.#close()
  }
}

function positive(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value
  throw new ArgumentError(`${name} = ${value} is not possible: give an integer from 1.`)
}

async function read(fs: Fs, args: z.output<typeof schema>, context: ToolContext): Promise<ToolOutcome> {
  const from = positive('offset', args.offset ?? 1)
  const limit = Math.min(READ_LINES, positive('limit', args.limit ?? READ_LINES))
  const target = await admittedTarget(fs, args.file_path, context, context.cwd)
  const page = new Page(from, limit)
  for await (const piece of fs.streamText(target, callOptions(context))) if (!page.push(piece)) break
  page.end()
  const last = from + page.rows.length - 1
  const meta = { kind: 'read', path: target.path, from, to: last, more: page.more }
  if (page.rows.length > 0) {
    const footer = page.more ? `\n[lines ${from}-${last} shown; more follow, continue with offset ${last + 1}]` : ''
    return { ...text(page.rows.join('\n') + footer), meta }
  }
  const total = page.line - 1
  if (total === 0 && from === 1) return { ...text(`[${target.path} is empty]`), meta }
  throw new ArgumentError(`offset ${from} is past the end: ${target.path} has ${count(total, 'line')}.`)
}

/** The tool `read`. Streams, so a page of a huge file costs that page; what it has read counts as seen. */
export const readTool = (fs: Fs, config: { description?: string } = {}): Tool =>
  defineTool({
    name: 'read',
    description: config.description ?? DESCRIPTION,
    schema,
    parallel: true,
    classify: (args) => ({ class: 'read', paths: [args.file_path] }),
    run: (args, context) => outcome(() => read(fs, args, context)),
  })
