import { z } from 'zod'
import { defineTool, text, type Tool, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { editMeta } from './diff.ts'
import { admittedTarget } from './admitted.ts'
import { FsError, type Fs, type Target, type TextFile } from './fs.ts'
import { callOptions, outcome } from './outcome.ts'

const schema = z.strictObject({
  file_path: z.string().min(1).describe('Path of the file, absolute or relative to the working directory.'),
  content: z.string().describe('The whole new content of the file.'),
})

const DESCRIPTION =
  'Writes a whole text file, making parent directories. A file that exists is replaced only after it was read in this session; prefer `edit` for a change to an existing file.'

/** The old text for the diff card and the byte-order mark; undefined when it is no text that can be shown. */
async function oldText(fs: Fs, target: Target, signal: AbortSignal): Promise<TextFile | undefined> {
  try {
    // Without the session: looking for the card is not reading the file.
    return await fs.readText(target, { signal })
  } catch (error) {
    if (error instanceof FsError) return undefined
    throw error
  }
}

async function write(fs: Fs, args: z.output<typeof schema>, context: ToolContext): Promise<ToolOutcome> {
  const { content } = args
  const options = callOptions(context)
  const target = await admittedTarget(fs, args.file_path, context, context.cwd)
  if (target.path.endsWith('/'))
    throw new FsError('FS_INVALID_PATH', `${target.path} ends with a slash: give the path of a file.`)
  const info = await fs.stat(target)
  if (!info) {
    const { notes } = await fs.writeText(target, { text: content }, { kind: 'createIfAbsent' }, options)
    const said = [`Created ${target.path}.`, ...notes.map((note) => `Note: ${note}.`)].join('\n')
    return { ...text(said), meta: editMeta(target.path, undefined, content) }
  }
  if (info.kind !== 'file') throw new FsError('FS_NOT_REGULAR_FILE', `${target.path} is not a regular file.`)
  const before = await oldText(fs, target, options.signal)
  const bom = (before?.bom ?? false) && !content.startsWith('\ufeff')
  const intent = { kind: 'replaceIfVersion', version: before?.version ?? info.version } as const
  const { notes } = await fs.writeText(target, { text: content, bom }, intent, options)
  const said = [`Replaced the content of ${target.path}.`, ...notes.map((note) => `Note: ${note}.`)].join('\n')
  const meta = before
    ? editMeta(target.path, before.text, content)
    : { kind: 'edit', path: target.path, truncated: true }
  return { ...text(said), meta }
}

/** The tool `write`: creates, or replaces what the session has seen (see observation.ts for who decides). */
export const writeTool = (fs: Fs, config: { description?: string } = {}): Tool =>
  defineTool({
    name: 'write',
    description: config.description ?? DESCRIPTION,
    schema,
    classify: (args) => ({ class: 'edit', paths: [args.file_path] }),
    run: (args, context) => outcome(() => write(fs, args, context)),
  })
