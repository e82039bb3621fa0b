import { basename } from 'node:path'
import { LineCounter, isMap, isScalar, isSeq, visit } from 'yaml'
import { readYaml } from './check-yaml.ts'
import { PRESET_ROW } from './rows.ts'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import type { Document, YAMLMap } from 'yaml'

/** The document that a declaring row stands in; rows made by a program have none. */
function documentOf(entry: Entry): { filename: string; text: string } | undefined {
  const { filename, text } = entry.parent.tree as { filename?: unknown; text?: unknown }
  return typeof filename === 'string' && typeof text === 'string' ? { filename, text } : undefined
}

/**
 * Adds file and line to what a reason says about keys and shapes of the document: the reader is about to look for them.
 * Other lines stay as they are.
 */
export function withPlaces(entry: Entry, reason: string): string {
  const file = documentOf(entry)
  if (!file || !/unknown key|Unrecognized key/.test(reason)) return reason
  try {
    return placed(entry, file, reason)
  } catch {
    // The text is another one by now, of a shape that has no such places; the reason is right without them.
    return reason
  }
}

function placed(entry: Entry, file: { filename: string; text: string }, reason: string): string {
  const lines = new LineCounter()
  const document = readYaml(file.text, lines)
  const preset = (entry.options.config as { id?: unknown } | undefined)?.id
  const at = (offset: number | undefined): string =>
    offset === undefined ? '' : ` (${basename(file.filename)}:${lines.linePos(offset).line})`
  let row = ''
  return reason
    .split('\n')
    .map((line) => {
      const [, steps] = /^((?:row \d+ > )*row \d+)\b.*unknown key/.exec(line) ?? []
      if (steps !== undefined) return line + at(offsetOfRow(document, preset, steps))
      row = /^(\S+) \(/.exec(line)?.[1] ?? row
      const [, key] = /Unrecognized keys?: "([^"]+)"/.exec(line) ?? []
      return key === undefined ? line : line + at(offsetOfKey(document, row, key))
    })
    .join('\n')
}

/** `row 1 > row 2`: the second row in the group that is the first row of the preset. */
function offsetOfRow(document: Document, preset: unknown, steps: string): number | undefined {
  const declaring = isSeq(document.contents)
    ? document.contents.items.findIndex(
        (item) => isMap(item) && item.get('name') === PRESET_ROW && item.getIn(['config', 'id']) === preset,
      )
    : -1
  const indices = [...steps.matchAll(/\d+/g)].map(([digits]) => Number(digits) - 1)
  const path = [declaring, 'config', 'plugins', ...indices.flatMap((index) => ['config', index]).slice(1)]
  const node = document.getIn(path, true) as { range?: [number, number, number] } | undefined
  return node?.range?.[0]
}

/** The key in the config of the row with this id, else the row. */
function offsetOfKey(document: Document, row: string, key: string): number | undefined {
  let found: number | undefined
  visit(document, {
    Map(_key, map) {
      if (map.get('id') !== row && map.get('name') !== row) return undefined
      const config: unknown = map.get('config')
      found = (isMap(config) ? keyOffset(config, key) : undefined) ?? map.range?.[0]
      // A row inside the declaring row may have the same id: it is the one that is meant.
      return undefined
    },
  })
  return found
}

function keyOffset(map: YAMLMap, name: string): number | undefined {
  let found: number | undefined
  visit(map, {
    Pair(_key, { key }) {
      if (isScalar(key) && key.value === name) found ??= key.range?.[0]
    },
  })
  return found
}
