import { Scalar, YAMLMap, YAMLSeq, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { js } from '../preset/expression.ts'
import type { Document } from 'yaml'

const read = (text: string): Document => parseDocument(text, { version: '1.2', schema: 'core', customTags: [js] })

const isOverride = (item: unknown, id: string): item is YAMLMap =>
  isMap(item) && item.get('id') === id && !item.has('insert')

/** Makes a map equal to `value` key by key, so that the comments and quotes of what stays are kept. */
function assign(document: Document, map: YAMLMap, value: Readonly<Record<string, unknown>>): void {
  const keys = map.items.map(({ key }) => (isScalar(key) ? String(key.value) : String(key)))
  for (const key of keys) if (!Object.hasOwn(value, key)) map.delete(key)
  for (const [key, next] of Object.entries(value)) {
    const node = map.get(key, true) as unknown
    if (isScalar(node) && (typeof next !== 'object' || next === null)) node.value = next
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
  const index = list.items.findIndex((item) => isOverride(item, id))
  const item = list.items[index]
  if (config === undefined) {
    if (!isMap(item)) return text
    item.delete('config')
    if (item.items.every(({ key }) => isScalar(key) && (key.value === 'id' || key.value === 'name')))
      list.items.splice(index, 1)
  } else if (isMap(item)) {
    const held = item.get('config', true) as unknown
    if (isMap(held)) assign(document, held, config)
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
