import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { defineTool, text, type Tool, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import type { Fs } from './fs.ts'
import { COMMON_ARGS, ripgrep, searchWorld, VCS_ARGS, type SearchWorld } from './ripgrep.ts'
import { hiddenArgs, remark, searchOutcome, searchRoot, showPath } from './search.ts'
import { completeEnd } from './utf8.ts'

export const GREP_MATCHES = 250
/** Bytes of one matching line. */
export const GREP_LINE_BYTES = 2000

const schema = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression in Rust syntax, matched line by line; case matters.'),
  path: z.string().min(1).optional().describe('File or directory to search; the working directory when left out.'),
  include: z
    .string()
    .min(1)
    .optional()
    .describe('Glob that limits the files, for example `*.ts` or `src/**/*.{js,ts}`.'),
})

const DESCRIPTION = `Searches file contents with a regular expression and shows matching lines as path:line:text, at most ${GREP_MATCHES}. Hidden files are searched; ignored files, binary files and version-control directories are not.`

interface Match {
  path: string
  line: number
  text: string
}

/** Rows of `path NUL line : text LF`; what does not have this form (a remark on a binary file) is no match. */
export class MatchParser {
  readonly matches: Match[] = []
  full = false
  #rest: Buffer = Buffer.alloc(0)
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let from = 0
    for (let lf = bytes.indexOf(10); lf >= 0; lf = bytes.indexOf(10, from)) {
      this.#row(bytes.subarray(from, lf))
      from = lf + 1
    }
    this.#rest = bytes.subarray(from)
  }

  #row(row: Buffer): void {
    const nul = row.indexOf(0)
    const colon = row.indexOf(58, nul + 1)
    const line = Number(row.toString('latin1', nul + 1, colon))
    if (nul < 0 || colon < 0 || !Number.isInteger(line)) return
    if (this.matches.length === this.#limit) {
      this.full = true
      return
    }
    const whole = row.subarray(colon + 1)
    const kept = whole.subarray(0, GREP_LINE_BYTES)
    const cut = kept.length < whole.length
    const shown = cut
      ? `${kept.toString('utf8', 0, completeEnd(kept))} [line cut]`
      : whole.toString('utf8').replace(/\r$/, '')
    this.matches.push({ path: row.toString('utf8', 0, nul), line, text: shown })
  }
}

async function grep(
  fs: Fs,
  args: z.output<typeof schema>,
  context: ToolContext & { world: SearchWorld },
): Promise<ToolOutcome> {
  const { target, isDirectory } = await searchRoot(fs, args.path, context)
  const parser = new MatchParser(GREP_MATCHES)
  const include = args.include === undefined ? [] : [`--glob=${args.include.replace(/^!/, '\\!')}`]
  const form = ['--line-number', '--no-heading', '--with-filename', '--sort=path', `--regexp=${args.pattern}`]
  const hidden = isDirectory ? hiddenArgs(target.key, context) : []
  const completeness = await ripgrep({
    ...searchWorld(context),
    args: [
      ...COMMON_ARGS,
      ...form,
      ...include,
      ...VCS_ARGS,
      ...hidden,
      '--',
      isDirectory ? './' : `./${basename(target.key)}`,
    ],
    cwd: isDirectory ? target.key : dirname(target.key),
    signal: context.signal,
    onChunk(chunk) {
      parser.push(chunk)
      return parser.full
    },
  })
  const { matches } = parser
  const path = (match: Match): string =>
    showPath(isDirectory ? join(target.path, match.path) : target.path, context.cwd)
  const rows = matches.map((match) => `${path(match)}:${match.line}:${match.text}`)
  const notes = [
    ...(parser.full ? [`[only the first ${matches.length} matches shown; narrow the pattern or the path]`] : []),
    ...remark(completeness),
  ]
  return {
    ...text([...(rows.length > 0 ? rows : ['No matches.']), ...notes].join('\n')),
    meta: {
      kind: 'grep',
      pattern: args.pattern,
      path: target.path,
      matches: matches.length,
      files: new Set(matches.map((match) => match.path)).size,
      truncated: parser.full || completeness === 'raw-limit',
    },
  }
}

/** The tool `grep`. `world` stands in for the search program in tests. */
export const grepTool = (fs: Fs, config: { description?: string } & SearchWorld = {}): Tool => {
  const { description = DESCRIPTION, ...world } = config
  return defineTool({
    name: 'grep',
    description,
    schema,
    parallel: true,
    classify: (args) => ({ class: 'read', paths: [args.path ?? '.'] }),
    run: (args, context) => searchOutcome(() => grep(fs, args, { ...context, world })),
  })
}
