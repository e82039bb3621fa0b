/** What stands at the cursor of a preset document, read from the lines alone: it works while the text does not parse. */
export type Place =
  | { kind: 'row-name'; from: number; typed: string }
  /** `path`: keys below the row's `config`; list positions do not count. */
  | { kind: 'config-key'; row: string; path: string[]; from: number; typed: string; taken: string[] }
  | { kind: 'config-value'; row: string; path: string[]; key: string; from: number; typed: string }

interface Line {
  /** Column of the key, after any `- `. */
  indent: number
  key?: string
  value: string
  /** The line opens a list item. */
  item: boolean
}

const KEY = /^(\s*(?:-\s+)*)([\w$./@-]+):(?:\s+(.*)|)$/

function read(text: string): Line | undefined {
  if (text.trim() === '' || /^\s*#/.test(text)) return undefined
  const match = KEY.exec(text)
  const item = /^\s*-(\s|$)/.test(text)
  if (!match) return { indent: /^\s*(?:-\s+)*/.exec(text)?.[0].length ?? 0, value: text.trim(), item }
  return { indent: match[1]?.length ?? 0, key: match[2]!, value: (match[3] ?? '').trim(), item }
}

/** `line` from 0; `column` is the cursor in it. */
export function placeAt(lines: readonly string[], line: number, column: number): Place | undefined {
  const before = (lines[line] ?? '').slice(0, column)
  const name = /^\s*(?:-\s+)*name:\s+["']?([\w:@./-]*)$/.exec(before)
  const around = parents(lines, line, before)
  const inner = around.at(-1)
  // A list of rows: the document itself, `plugins`, and the config of a group.
  if (!inner || inner.key === 'plugins' || (inner.key === 'config' && holdsRows(lines, inner)))
    return name ? { kind: 'row-name', from: column - name[1]!.length, typed: name[1]! } : undefined
  const config = around.findLastIndex(({ key }) => key === 'config')
  if (config < 0) return undefined
  const row = rowName(lines, around[config]!)
  if (row === undefined) return undefined
  const path = around.slice(config + 1).map(({ key }) => key)
  const value = /^\s*(?:-\s+)*([\w$./-]+):\s+["']?([\w.-]*)$/.exec(before)
  if (value)
    return { kind: 'config-value', row, path, key: value[1]!, from: column - value[2]!.length, typed: value[2]! }
  const key = /^(\s*(?:-\s+)*)([\w$-]*)$/.exec(before)
  if (!key) return undefined
  const taken = siblings(lines, line, key[1]!.length)
  return { kind: 'config-key', row, path, from: column - key[2]!.length, typed: key[2]!, taken }
}

interface Parent {
  line: number
  indent: number
  key: string
}

/** Keys that the cursor is inside of, outermost first. */
function parents(lines: readonly string[], line: number, before: string): Parent[] {
  const own = /^\s*(?:-\s+)*/.exec(before)?.[0] ?? ''
  let limit = own.length
  // A list item may stand as far left as the key that holds the list.
  let allowSame = own.includes('-') ? own.indexOf('-') : -1
  const found: Parent[] = []
  for (let index = line - 1; index >= 0 && limit > 0; index--) {
    const at = read(lines[index]!)
    if (!at) continue
    if (
      at.key !== undefined &&
      at.value === '' &&
      (at.indent < limit || at.indent === allowSame) &&
      opens(at, limit, allowSame)
    ) {
      found.unshift({ line: index, indent: at.indent, key: at.key })
      limit = at.indent
      allowSame = at.item ? lines[index]!.indexOf('-') : -1
    } else if (at.indent < limit) {
      limit = at.indent
      allowSame = at.item ? lines[index]!.indexOf('-') : -1
    } else if (at.item && at.indent === limit) allowSame = lines[index]!.indexOf('-')
  }
  return found
}

const opens = (at: Line, limit: number, allowSame: number): boolean => at.indent < limit || at.indent === allowSame

/** The config of a group is a list of rows, each with a config of its own. */
function holdsRows(lines: readonly string[], config: Parent): boolean {
  for (let index = config.line + 1; index < lines.length; index++) {
    const at = read(lines[index]!)
    if (at) return at.item && /^\s*-\s+(id|name):/.test(lines[index]!)
  }
  return false
}

/** The `name` beside a `config`, above or below it. */
function rowName(lines: readonly string[], config: Parent): string | undefined {
  for (const { at } of block(lines, config.line, config.indent))
    if (at.key === 'name' && at.value !== '') return at.value.replaceAll(/^["']|["']$/g, '')
  return undefined
}

const siblings = (lines: readonly string[], line: number, indent: number): string[] =>
  block(lines, line, indent).flatMap(({ index, at }) => (index !== line && at.key !== undefined ? [at.key] : []))

/** The lines of one mapping: those at `indent` around `line`, up to its list item and down to the next. */
function block(lines: readonly string[], line: number, indent: number): { index: number; at: Line }[] {
  const found: { index: number; at: Line }[] = []
  for (let index = line; index >= 0; index--) {
    const at = read(lines[index]!)
    if (!at) continue
    if (at.indent < indent) break
    if (at.indent !== indent) continue
    found.push({ index, at })
    if (at.item) break
  }
  for (let index = line + 1; index < lines.length; index++) {
    const at = read(lines[index]!)
    if (!at) continue
    if (at.indent < indent || (at.indent === indent && at.item)) break
    if (at.indent === indent) found.push({ index, at })
  }
  return found
}
