import { join } from 'node:path'
import { z } from 'zod'
import { defineTool, text, type Tool, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { FsError, type Fs } from './fs.ts'
import { count } from './outcome.ts'
import { COMMON_ARGS, ripgrep, searchWorld, VCS_ARGS, type SearchWorld } from './ripgrep.ts'
import { hiddenArgs, remark, searchOutcome, searchRoot, showPath } from './search.ts'

export const GLOB_RESULTS = 100

const schema = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe('Glob such as `**/*.ts` or `src/{a,b}/*.json`. Without a slash it matches names at any depth.'),
  path: z.string().min(1).optional().describe('Directory to search; the working directory when left out.'),
})

const DESCRIPTION = `Finds files by name pattern, most recently changed first, at most ${GLOB_RESULTS}. Hidden and ignored files are included, version-control directories are not.`

/** An absolute pattern names its own directory: the part before the first component with a wildcard. */
function splitPattern(pattern: string): { base?: string; glob: string } {
  if (!pattern.startsWith('/')) return { glob: pattern.replace(/^(\.\/)+/, '') }
  const parts = pattern.split('/')
  const wild = parts.findIndex((part) => /[*?[\]{}\\]/.test(part))
  const cut = wild < 0 ? parts.length - 1 : wild
  return { base: parts.slice(0, cut).join('/') || '/', glob: parts.slice(cut).join('/') }
}

async function glob(
  fs: Fs,
  args: z.output<typeof schema>,
  context: ToolContext & { world: SearchWorld },
): Promise<ToolOutcome> {
  const { base, glob } = splitPattern(args.pattern)
  const { target, isDirectory } = await searchRoot(fs, base ?? args.path, context)
  if (!isDirectory) throw new FsError('FS_INVALID_PATH', `${target.path} is not a directory.`)
  const found: string[] = []
  let total = 0
  let rest: Buffer = Buffer.alloc(0)
  const completeness = await ripgrep({
    ...searchWorld(context),
    // A leading exclamation mark would turn the pattern into an exclusion.
    args: [
      '--files',
      ...COMMON_ARGS,
      '--no-ignore',
      '--sortr=modified',
      `--glob=${glob.replace(/^!/, '\\!')}`,
      ...VCS_ARGS,
      ...hiddenArgs(target.key, context),
    ],
    cwd: target.key,
    signal: context.signal,
    onChunk(chunk) {
      const bytes = Buffer.concat([rest, chunk])
      let from = 0
      for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
        if (total++ < GLOB_RESULTS) found.push(bytes.toString('utf8', from, end))
        from = end + 1
      }
      rest = bytes.subarray(from)
      return false
    },
  })
  const paths = found.map((name) => showPath(join(target.path, name), context.cwd))
  const left = total - found.length
  const notes = [
    ...(left > 0 ? [`[${count(left, 'older file')} not shown; narrow the pattern]`] : []),
    ...remark(completeness),
  ]
  return {
    ...text([...(paths.length > 0 ? paths : ['No files found.']), ...notes].join('\n')),
    meta: { kind: 'glob', pattern: args.pattern, path: target.path, files: total, truncated: left > 0 },
  }
}

/** The tool `glob`. `world` stands in for the search program in tests. */
export const globTool = (fs: Fs, config: { description?: string } & SearchWorld = {}): Tool => {
  const { description = DESCRIPTION, ...world } = config
  return defineTool({
    name: 'glob',
    description,
    schema,
    parallel: true,
    classify(args) {
      const root = splitPattern(args.pattern).base ?? args.path
      return { class: 'read', paths: [root ?? '.'] }
    },
    run: (args, context) => searchOutcome(() => glob(fs, args, { ...context, world })),
  })
}
