import { isDeepStrictEqual } from 'node:util'
import { Scalar, YAMLMap, YAMLSeq, isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml'
import { isExpression, js } from '../preset/expression.ts'
import type { Document, Pair } from 'yaml'

const read = (text: string): Document => parseDocument(text, { version: '1.2', schema: 'core', customTags: [js] })

const isOverride = (item: unknown, id: string): item is YAMLMap =>
  isMap(item) && item.get('id') === id && !item.has('insert')

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExpression(value)

const nameOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : String(key))

/** Makes a map equal to `value` key by key, as deep as both are maps: comments, quotes and expressions of what stays are kept. */
function assign(document: Document, map: YAMLMap, value: Readonly<Record<string, unknown>>): void {
  map.items = map.items.filter((pair) => Object.hasOwn(value, nameOf(pair)))
  for (const [key, next] of Object.entries(value)) {
    // A key that was written as a number is found as one.
    const pair = map.items.find((candidate) => nameOf(candidate) === key)
    const node = pair?.value
    if (isNode(node) && isDeepStrictEqual(node.toJS(document), next)) continue
    if (isMap(node) && isPlain(next)) assign(document, node, next)
    else if (isScalar(node) && !node.tag && (typeof next !== 'object' || next === null)) node.value = next
    else if (pair) pair.value = document.createNode(next)
    else map.set(key, document.createNode(next))
  }
}

/**
 * The text of a patch file with the override of one row's config set to `config`, or taken out when undefined. Nothing
 * else in the file changes. Throws when the text is not a list.
 */
export function withOverride(text: string, id: string, config: Readonly<Record<string, unknown>> | undefined): string {
  const document = read(text)
  const problem = document.errors[0]
  if (problem) throw problem
  if (document.contents === null) document.contents = new YAMLSeq() as never
  const list = document.contents as unknown
  if (!isSeq(list)) throw new Error('the patch file is not a list at its top level')
  // Of several, the last one is in force.
  const held = list.items.findLastIndex((item) => isOverride(item, id) && item.has('config'))
  const index = held >= 0 ? held : list.items.findLastIndex((item) => isOverride(item, id))
  const item = list.items[index]
  if (config === undefined) {
    if (!isMap(item)) return text
    item.delete('config')
    if (item.items.every(({ key }) => isScalar(key) && (key.value === 'id' || key.value === 'name')))
      list.items.splice(index, 1)
  } else if (isMap(item)) {
    const present = item.get('config', true) as unknown
    if (isMap(present)) assign(document, present, config)
    else item.set('config', document.createNode(config))
  } else {
    const created = new YAMLMap()
    created.set('id', new Scalar(id))
    created.set('config', document.createNode(config))
    list.items.push(created)
    list.flow = false
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}
