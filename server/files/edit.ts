import { z } from 'zod'
import { defineTool, text, type Tool, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { editMeta } from './diff.ts'
import { admittedTarget } from './admitted.ts'
import type { Fs } from './fs.ts'
import { callOptions, count, outcome } from './outcome.ts'
import { replaceText } from './replace.ts'

const schema = z.strictObject({
  file_path: z.string().min(1).describe('Path of the file, absolute or relative to the working directory.'),
  old_string: z.string().describe('The literal text to replace, whitespace included.'),
  new_string: z.string().describe('The literal text to put in its place; empty to delete.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence instead of exactly one. Default false.'),
})

const DESCRIPTION =
  'Replaces a literal text in a file that was read in this session. `old_string` must occur exactly once unless `replace_all` is true; line numbers shown by `read` are not part of it.'

async function edit(fs: Fs, args: z.output<typeof schema>, context: ToolContext): Promise<ToolOutcome> {
  const target = await admittedTarget(fs, args.file_path, context, context.cwd)
  let places = 0
  let line = 1
  const result = await fs.editText(
    target,
    (file) => {
      const replaced = replaceText(file.text, {
        path: target.path,
        old: args.old_string,
        new: args.new_string,
        names: { old: 'old_string', new: 'new_string' },
        all: args.replace_all ?? false,
      })
      places = replaced.places
      line = replaced.line
      return replaced.text
    },
    callOptions(context),
  )
  const where = places === 1 ? `at line ${line}` : `in ${count(places, 'place')}, the first at line ${line}`
  const said = [`Edited ${target.path} ${where}.`, ...result.notes.map((note) => `Note: ${note}.`)].join('\n')
  return { ...text(said), meta: editMeta(target.path, result.before.text, result.after.text) }
}

/** The tool `edit`. FS_NOT_OBSERVED and FS_STALE_VERSION come from the policy of the given files, if they have one. */
export const editTool = (fs: Fs, config: { description?: string } = {}): Tool =>
  defineTool({
    name: 'edit',
    description: config.description ?? DESCRIPTION,
    schema,
    classify: (args) => ({ class: 'edit', paths: [args.file_path] }),
    run: (args, context) => outcome(() => edit(fs, args, context)),
  })
