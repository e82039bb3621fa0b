import { never } from '../../wire/never.ts'
import { defineTool, text, type Tool, type ToolContext, type ToolOutcome } from '../../tool/tool.ts'
import { editMeta } from '../diff.ts'
import { admittedTarget } from '../admitted.ts'
import type { CallOptions, EditResult, Fs, Target } from '../fs.ts'
import { FsError } from '../fs.ts'
import { insertLines } from '../insert.ts'
import { numbered } from '../lines.ts'
import { ArgumentError, callOptions, count, outcome } from '../outcome.ts'
import { replaceText } from '../replace.ts'
import { viewDirectory } from './directory.ts'
import { editorSchema, type EditorArgs } from './schema.ts'
import { UndoHistory } from './undo.ts'
import { viewFile } from './view.ts'

export interface EditorConfig {
  /** Characters of one result; 16000 when absent. */
  maxOutputChars?: number
  /** What the model reads about the tool. */
  description?: string
  /** Adds the command `undo_edit`. */
  undo?: boolean
  /** Shows the lines around a change in its result. */
  snippet?: boolean
}

const DESCRIPTION = `Views, creates and edits text files by absolute path.
- \`view\` shows a file with line numbers (all of it, or \`view_range\`), or a directory two levels deep without hidden entries.
- \`create\` writes a new file and its parent directories; it refuses a path that exists.
- \`str_replace\` replaces \`old_str\`, which must occur exactly once, by \`new_str\`. Both are literal, whitespace included; the line numbers of \`view\` are not part of the text.
- \`insert\` puts the lines of \`new_str\` after line \`insert_line\`.`

const UNDO_DESCRIPTION = '\n- `undo_edit` takes back the last `str_replace` or `insert` on the path.'
const SNIPPET_CONTEXT = 4

interface Call {
  args: EditorArgs
  target: Target
  options: CallOptions & { signal: AbortSignal; session: string }
}

function required(args: EditorArgs, name: 'file_text' | 'old_str' | 'new_str'): string {
  const value = args[name]
  if (value === undefined) throw new ArgumentError(`${name} is required for ${args.command}.`)
  return value
}

const withNotes = (sentence: string, notes: string[]): string =>
  [sentence, ...notes.map((note) => `Note: ${note}.`)].join('\n')

class Editor {
  readonly #fs: Fs
  readonly #config: EditorConfig & { maxOutputChars: number }
  readonly #histories = new Map<string, UndoHistory>()

  constructor(fs: Fs, config: EditorConfig) {
    this.#fs = fs
    this.#config = { ...config, maxOutputChars: config.maxOutputChars ?? 16_000 }
  }

  async run(args: EditorArgs, context: ToolContext): Promise<ToolOutcome> {
    context.signal.throwIfAborted()
    const call: Call = {
      args,
      target: await admittedTarget(this.#fs, args.path, context),
      options: callOptions(context),
    }
    switch (args.command) {
      case 'view':
        return this.#view(call)
      case 'create':
        return this.#create(call)
      case 'str_replace':
        return this.#replace(call, context)
      case 'insert':
        return this.#insert(call, context)
      case 'undo_edit':
        return this.#undo(call, context)
      default:
        return never(args.command)
    }
  }

  async #view({ args, target, options }: Call): Promise<ToolOutcome> {
    const { maxOutputChars } = this.#config
    const info = await this.#fs.stat(target, options)
    if (info?.kind !== 'directory') {
      const shown = await viewFile(this.#fs, target, { ...options, maxOutputChars, range: args.view_range })
      const { from, last, total } = shown
      return { ...text(shown.text), meta: { kind: 'view', path: target.path, from, to: last, total } }
    }
    if (args.view_range) throw new ArgumentError(`view_range is for files; ${target.path} is a directory.`)
    const shown = await viewDirectory(this.#fs, target, { ...options, maxOutputChars })
    return { ...text(shown.text), meta: { kind: 'list', path: target.path, entries: shown.entries } }
  }

  async #create({ args, target, options }: Call): Promise<ToolOutcome> {
    const content = required(args, 'file_text')
    if (target.path.endsWith('/'))
      throw new FsError('FS_INVALID_PATH', `${target.path} ends with a slash: give the path of a file.`)
    const present = await this.#fs.lstat(target)
    if (present) {
      const what = present.kind === 'directory' ? 'is a directory that already exists' : 'already exists'
      throw new FsError(
        'FS_EXISTS',
        `${target.path} ${what}; nothing was changed. Use str_replace or insert to edit a file.`,
      )
    }
    const { notes } = await this.#fs.writeText(target, { text: content }, { kind: 'createIfAbsent' }, options)
    return { ...text(withNotes(`Created ${target.path}.`, notes)), meta: editMeta(target.path, undefined, content) }
  }

  async #replace({ args, target, options }: Call, context: ToolContext): Promise<ToolOutcome> {
    const replacement = {
      path: target.path,
      old: required(args, 'old_str'),
      new: args.new_str ?? '',
      names: { old: 'old_str', new: 'new_str' },
    }
    let line = 1
    const result = await this.#fs.editText(
      target,
      (file) => {
        const replaced = replaceText(file.text, replacement)
        line = replaced.line
        return replaced.text
      },
      options,
    )
    this.#record(target, result, context)
    const size = replacement.new.split('\n').length
    return this.#edited(target, result, { sentence: `Edited ${target.path} at line ${line}.`, line, size })
  }

  async #insert({ args, target, options }: Call, context: ToolContext): Promise<ToolOutcome> {
    const fresh = required(args, 'new_str')
    let line = 1
    let size = 0
    const result = await this.#fs.editText(
      target,
      (file) => {
        const inserted = insertLines(file.text, args.insert_line, fresh)
        line = inserted.line
        size = inserted.count
        return inserted.text
      },
      options,
    )
    this.#record(target, result, context)
    const sentence = `Inserted ${count(size, 'line')} into ${target.path} after line ${line - 1}.`
    return this.#edited(target, result, { sentence, line, size })
  }

  async #undo({ target, options }: Call, context: ToolContext): Promise<ToolOutcome> {
    const history = this.#historyOf(context)
    const entry = history.last(target)
    const now = await this.#fs.stat(target, options)
    if (now?.version !== entry.version)
      throw new FsError('FS_STALE_VERSION', `${target.path} changed since the edit; the edit was not undone.`)
    const result = await this.#fs.editText(target, () => entry.text, options)
    history.undone(entry, result.version)
    return this.#edited(target, result, { sentence: `Took back the last edit of ${target.path}.`, line: 1, size: 0 })
  }

  #edited(target: Target, result: EditResult, change: { sentence: string; line: number; size: number }): ToolOutcome {
    const { before, after, notes } = result
    const snippet = this.#config.snippet && change.size > 0 ? `\n${this.#snippet(after.text, change)}` : ''
    return {
      ...text(withNotes(change.sentence, notes) + snippet),
      meta: editMeta(target.path, before.text, after.text),
    }
  }

  #snippet(content: string, { line, size }: { line: number; size: number }): string {
    const first = Math.max(1, line - SNIPPET_CONTEXT)
    const rows = content.split('\n').slice(first - 1, line - 1 + size + SNIPPET_CONTEXT)
    const shown = rows.map((row, index) => numbered(first + index, row)).join('\n')
    if (shown.length <= this.#config.maxOutputChars) return shown
    return `[${rows.length} lines around the change are too long to show]`
  }

  #historyOf(context: ToolContext): UndoHistory {
    const { id } = context.agent
    const known = this.#histories.get(id)
    if (known) return known
    const history = new UndoHistory()
    this.#histories.set(id, history)
    context.agent.onClose(() => void this.#histories.delete(id))
    return history
  }

  #record(target: Target, result: EditResult, context: ToolContext): void {
    if (this.#config.undo) this.#historyOf(context).record(target, result)
  }
}

/** The tool `str_replace_editor` on the given files. Paths are absolute, always (O-09). */
export function strReplaceEditor(fs: Fs, config: EditorConfig = {}): Tool {
  const editor = new Editor(fs, config)
  const undo = config.undo ?? false
  return defineTool({
    name: 'str_replace_editor',
    description: config.description ?? DESCRIPTION + (undo ? UNDO_DESCRIPTION : ''),
    schema: editorSchema(undo),
    classify: (args) => ({ class: args.command === 'view' ? 'read' : 'edit', paths: [args.path] }),
    run: (args, context) => outcome(() => editor.run(args, context)),
  })
}
