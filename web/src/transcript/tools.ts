import type { Hunk } from './diff-lines.ts'
import type { ItemOf } from '../../../server/projection/transcript-items.ts'
import type { Json, JsonObject } from '../../../server/wire/json.ts'

export type ToolLook = 'bash' | 'edit' | 'view' | 'list' | 'search' | 'todo' | 'other'

/** How a call reads as one line; verbs are keys of the message table. */
export interface ToolLine {
  look: ToolLook
  verb: 'ran' | 'edited' | 'created' | 'viewed' | 'listed' | 'searched' | 'wrote' | 'planned' | 'called'
  object: string
  failed: boolean
  exit?: string
  added?: number
  removed?: number
}

type Tool = ItemOf<'tool'>

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const metaOf = (item: Tool): JsonObject => (isObject(item.result?.meta) ? item.result.meta : {})

/** Arguments are the model's own text: they may be unfinished or wrong. */
export function argsOf(item: Tool): JsonObject {
  try {
    const value = JSON.parse(item.arguments) as Json
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const number = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

export function lineOf(item: Tool, cwd: string): ToolLine {
  const args = argsOf(item)
  const meta = metaOf(item)
  const path = below(text(meta['path']) || text(args['path']) || text(args['file_path']) || text(args['filePath']), cwd)
  const base = { failed: item.result?.isError === true }
  const added = number(meta['added'])
  const removed = number(meta['removed'])
  const counts = { ...(added !== undefined && { added }), ...(removed !== undefined && { removed }) }
  switch (item.name) {
    case 'bash':
    case 'shell':
      return {
        ...base,
        ...exitOf(meta, base.failed),
        look: 'bash',
        verb: 'ran',
        object: firstLine(text(args['command'])),
      }
    case 'str_replace_editor':
      return { ...base, ...editorLine(text(args['command']), meta), ...counts, object: path }
    case 'read':
    case 'view':
      return { ...base, look: 'view', verb: 'viewed', object: path + range(args) }
    case 'write':
      return { ...base, ...counts, look: 'edit', verb: meta['created'] === true ? 'created' : 'wrote', object: path }
    case 'edit':
    case 'multi_edit':
      return { ...base, ...counts, look: 'edit', verb: 'edited', object: path }
    case 'ls':
    case 'list':
      return { ...base, look: 'list', verb: 'listed', object: path || '.' }
    case 'glob':
    case 'grep':
      return { ...base, look: 'search', verb: 'searched', object: where(text(args['pattern']), path) }
    default:
      if (item.name?.includes('todo')) return { ...base, look: 'todo', verb: 'planned', object: '' }
      return { ...base, look: 'other', verb: 'called', object: `${item.name ?? ''} ${compact(item.arguments)}`.trim() }
  }
}

function editorLine(command: string, meta: JsonObject): Pick<ToolLine, 'look' | 'verb'> {
  if (command === 'create') return { look: 'edit', verb: 'created' }
  if (command !== 'view') return { look: 'edit', verb: 'edited' }
  return meta['kind'] === 'list' ? { look: 'list', verb: 'listed' } : { look: 'view', verb: 'viewed' }
}

/** A non-zero exit is a failure to the reader, although the tool itself did its work. */
function exitOf(meta: JsonObject, failed: boolean): Pick<ToolLine, 'failed' | 'exit'> {
  const end = isObject(meta['end']) ? meta['end'] : meta
  const code = number(end['exitCode'])
  if (code !== undefined && code !== 0) return { failed: true, exit: `exit ${code}` }
  const signal = text(end['signal'])
  if (signal) return { failed: true, exit: signal }
  const kind = text(end['kind'])
  const cut = ['timeout', 'cancelled', 'needs-input', 'failed'].includes(kind)
  return cut ? { failed: true, exit: kind } : { failed }
}

export const below = (path: string, cwd: string): string =>
  path === cwd ? '' : cwd !== '' && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path

const firstLine = (command: string): string => {
  const lines = command.trim().split('\n')
  return lines.length > 1 ? `${lines[0]} …` : (lines[0] ?? '')
}
const where = (pattern: string, path: string): string => (path === '' ? pattern : `${pattern}  in ${path}`)
const range = (args: JsonObject): string => {
  const offset = number(args['offset'])
  return offset === undefined ? '' : `:${offset}`
}
/** One line of arguments; 200 characters are more than a row can show. */
const compact = (json: string): string => json.replace(/\s+/g, ' ').slice(0, 200)

/** Hunks for the diff card: from the result, else from the arguments while nothing better is known. */
export function hunksOf(item: Tool): Hunk[] {
  const hunks = metaOf(item)['hunks']
  if (Array.isArray(hunks)) return (hunks as unknown[]).filter(isHunk)
  const args = argsOf(item)
  const before = text(args['old_str']) || text(args['old_string'])
  const after = text(args['new_str']) || text(args['new_string']) || text(args['file_text']) || text(args['content'])
  if (before === '' && after === '') return []
  const lines = [...split(before).map((line) => `-${line}`), ...split(after).map((line) => `+${line}`)]
  return [{ oldStart: 0, newStart: 0, lines }]
}

const split = (value: string): string[] => (value === '' ? [] : value.replace(/\n$/, '').split('\n'))

const isHunk = (value: unknown): value is Hunk => {
  const hunk = value as Partial<Hunk> | null
  return typeof hunk?.oldStart === 'number' && typeof hunk.newStart === 'number' && Array.isArray(hunk.lines)
}
