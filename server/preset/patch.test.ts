import { describe, expect, test } from 'vitest'
import { applyLayers, routeOf } from './patch.ts'
import { INCLUDE, PRESET_ROW } from './rows.ts'
import type { Layer, Patch } from './patch.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

const row = (id: string, fields: Partial<EntryOptions> = {}): EntryOptions => ({ id, name: 'probe', ...fields })
const group = (id: string, rows: EntryOptions[]): EntryOptions =>
  row(id, { name: 'cordis:group', group: true, config: rows })
const preset = (id: string, plugins?: EntryOptions[]): EntryOptions =>
  row(id, { name: PRESET_ROW, config: { id, ...(plugins && { plugins }) } })
const include = (id: string, config: object = { path: 'x.yml' }): EntryOptions => row(id, { name: INCLUDE, config })

describe('where a patch goes', () => {
  const inner = [row('persona'), group('files', [row('editor')])]
  const rows = [row('plain'), group('all', [row('deep'), include('doc')]), preset('mine', inner)]

  test.each([
    ['no id', undefined],
    ['a row of the document', 'plain'],
    ['a row in a group', 'deep'],
    ['the include row itself', 'doc'],
    ['the declaring row itself', 'mine'],
    ['an id that nobody has', 'gone'],
    ['a row below one that holds none', 'plain:persona'],
    ['a row below one that nobody has', 'gone:persona'],
    ['a colon and nothing behind it, of a document', 'doc:'],
    ['a colon and nothing behind it, of a preset', 'mine:'],
  ])('%s: here', (_name, id) => {
    expect(routeOf(rows, id)).toEqual({ kind: 'here' })
  })

  test.each([
    ['doc:persona', 'include', 'doc', 'persona'],
    ['doc:mine:persona', 'include', 'doc', 'mine:persona'],
    ['mine:persona', 'preset', 'mine', 'persona'],
    ['mine:not-there', 'preset', 'mine', 'not-there'],
    ['persona', 'preset', 'mine', 'persona'],
    ['editor', 'preset', 'mine', 'editor'],
  ])('%s', (id, kind, to, rest) => {
    expect(routeOf(rows, id)).toMatchObject({ kind, row: { id: to }, rest })
  })

  test('a row’s own id goes before what its parts would mean', () => {
    expect(routeOf([...rows, row('mine:persona')], 'mine:persona')).toEqual({ kind: 'here' })
  })

  test.each([
    ['two presets: nobody knows which is meant', [preset('a', inner), preset('b', inner)]],
    ['a preset without rows', [preset('a')]],
    ['a declaring row without a config', [row('a', { name: PRESET_ROW })]],
    ['rows of another plugin', [row('a', { config: { plugins: inner } })]],
  ])('a row of a preset is not found without its name: %s', (_name, document) => {
    expect(routeOf(document, 'persona')).toEqual({ kind: 'here' })
  })

  test('a second declaring row without rows of its own does not hide the first', () => {
    expect(routeOf([preset('empty'), preset('mine', inner)], 'persona')).toMatchObject({ row: { id: 'mine' } })
  })
})

describe('rows under patch layers', () => {
  const applied = (rows: EntryOptions[], ...layers: Patch[][]) => {
    const before = structuredClone(rows)
    const warnings: string[] = []
    const named: Layer[] = layers.map((patches, index) => ({ source: `/patch-${index}.yml`, patches }))
    const result = applyLayers(rows, named, (message) => warnings.push(message))
    expect(rows).toEqual(before)
    return { result, warnings }
  }

  test('without a layer they are a copy of their own', () => {
    const rows = [row('a', { config: { x: 1 } })]
    const { result } = applied(rows)
    expect(result).toEqual(rows)
    expect(result[0]).not.toBe(rows[0])
  })

  test('a later layer goes over an earlier one', () => {
    const rows = [row('a', { config: { x: 1, y: 1 } }), row('b')]
    const { result, warnings } = applied(
      rows,
      [
        { id: 'a', config: { x: 2, y: 2 } },
        { id: 'b', disabled: true },
      ],
      [{ id: 'a', config: { x: 3 } }],
    )
    expect(result).toEqual([row('a', { config: { x: 3 } }), row('b', { disabled: true })])
    expect(warnings).toEqual([])
  })

  test('a row of a preset is patched in its place, and the rest of the declaration stays', () => {
    const rows = [preset('mine', [row('persona', { config: { prefix: 'Old' } }), row('other')])]
    const { result } = applied(rows, [{ id: 'mine:persona', config: { prefix: 'New' } }])
    expect(result).toEqual([preset('mine', [row('persona', { config: { prefix: 'New' } }), row('other')])])
  })

  test('what is addressed in a preset without rows is told, with the patch’s file', () => {
    const { result, warnings } = applied([preset('mine')], [{ id: 'mine:persona', disabled: true }])
    expect(result).toEqual([{ ...preset('mine'), config: { id: 'mine', plugins: [] } }])
    expect(warnings).toEqual([expect.stringMatching(/^\/patch-0\.yml: .*persona/)])
  })

  test('an id that nobody has is told by its name, with the patch’s file', () => {
    const { warnings } = applied([row('a')], [{ id: 'a', disabled: true }], [{ id: 'gone', disabled: true }])
    expect(warnings).toEqual([expect.stringMatching(/^\/patch-1\.yml: .*gone/)])
    expect(warnings.join()).not.toContain('%C')
  })

  test('what is meant for an included document is handed on, each patch with its source, in their order', () => {
    const { result } = applied(
      [group('all', [include('doc')]), include('second')],
      [
        { id: 'doc:a', disabled: true },
        { id: 'second:b', config: { x: 1 } },
      ],
      [{ id: 'doc:mine:c', config: { y: 1 } }],
    )
    expect(result).toEqual([
      group('all', [
        include('doc', {
          path: 'x.yml',
          layers: [
            { source: '/patch-0.yml', patches: [{ id: 'a', disabled: true }] },
            { source: '/patch-1.yml', patches: [{ id: 'mine:c', config: { y: 1 } }] },
          ],
        }),
      ]),
      include('second', {
        path: 'x.yml',
        layers: [{ source: '/patch-0.yml', patches: [{ id: 'b', config: { x: 1 } }] }],
      }),
    ])
  })

  test('a patch that restates the include row’s config does not lose what was handed on', () => {
    const { result } = applied(
      [include('doc')],
      [{ id: 'doc:a', disabled: true }],
      [{ id: 'doc', config: { path: 'y.yml' } }],
    )
    expect(result[0]?.config).toEqual({
      path: 'y.yml',
      layers: [{ source: '/patch-0.yml', patches: [{ id: 'a', disabled: true }] }],
    })
  })

  test('a row that a patch puts in can be patched by the next one', () => {
    const { result, warnings } = applied(
      [row('a')],
      [{ insert: [row('new', { config: { x: 1 } })] }, { id: 'new', config: { x: 2 } }],
    )
    expect(result.map(({ id, config }) => [id, config])).toContainEqual(['new', { x: 2 }])
    expect(warnings).toEqual([])
  })
})
