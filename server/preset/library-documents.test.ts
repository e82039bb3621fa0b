import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { OWN, libraryHost } from '../boot-library.fixture.ts'
import { Documents } from './library-documents.ts'
import { plugin } from './kernel.ts'
import type { BootOptions } from '../boot.ts'
import type { HostLoader } from './loader.ts'

async function documentsOf(files: Record<string, string>, options?: Partial<BootOptions>) {
  const made = await libraryHost(files, options)
  const documents = new Documents(made.host.ctx.loader as HostLoader, join(made.dataDir, 'presets'))
  return { made, documents, pathOf: made.pathOf }
}

const named = (id: string): string => OWN.replace('id: own', `id: ${id}`)
const HUGE = `# ${'x'.repeat(300 * 1024)}\n${OWN}`

describe('a preset is found in the document that declares it', () => {
  test('own, shipped, under the name of a file, or not at all', async () => {
    const { made, documents, pathOf } = await documentsOf({ own: OWN, torn: '- {', file: named('inside'), worn: '1' })
    const shipped = join(made.rootDir, 'presets/minimal.yml')
    expect(documents.find('own')).toEqual({ preset: 'own', file: pathOf('own'), own: true, declared: true })
    expect(documents.find('inside')).toEqual({ preset: 'inside', file: pathOf('file'), own: true, declared: true })
    expect(documents.find('minimal')).toEqual({ preset: 'minimal', file: shipped, own: false, declared: true })
    expect(documents.find('torn')).toEqual({ preset: 'torn', file: pathOf('torn'), own: true, declared: false })
    expect(documents.find('worn')).toEqual({ preset: 'worn', file: pathOf('worn'), own: true, declared: false })
    expect(['file', 'ghost', ''].map((id) => documents.find(id))).toEqual([undefined, undefined, undefined])
  })

  test('another row whose config has an id declares nothing', async () => {
    const persona = { plane: 'any' as const, load: async () => plugin({ name: 'other', config: ANY, apply() {} }) }
    const text = '- {id: other, name: other, config: {id: mine}}\n'
    const { documents, pathOf } = await documentsOf({ odd: text }, { catalog: { other: persona } })
    expect(documents.find('mine')).toBeUndefined()
    expect(documents.broken()).toEqual([
      { id: 'odd', file: pathOf('odd'), reason: 'odd.yml: the document declares no preset' },
    ])
  })

  test('while it is still being mounted, too', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = plugin({ name: 'slow', apply: () => gate.promise })
    const { documents, pathOf, made } = await documentsOf(
      { slow: '- {name: agent-preset, config: {id: slow, plugins: [{id: s, name: slow}]}}\n' },
      { catalog: { slow: { plane: 'preset', load: async () => slow } }, settleMs: 200 },
    )
    const states = () => [documents.find('slow'), documents.broken()]
    const found = [{ preset: 'slow', file: pathOf('slow'), own: true, declared: true }, []]
    expect(states()).toEqual(found)
    gate.resolve()
    await (made.host.ctx.loader as HostLoader).settled()
    expect(states()).toEqual(found)
  })
})

const ANY = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } }

test.for([
  ['that does not parse', '- name: agent-preset\n  config: [\n', 'mine', /^mine\.yml:3: ./],
  ['that is too large', HUGE, 'mine', /^mine\.yml: the document is larger than 256 KiB$/],
  ['of nothing', '[]\n', 'mine', /^mine\.yml: the document declares no preset$/],
  [
    'whose row is off',
    named('mine').replace('- id: row', '- disabled: true\n  id: row'),
    'mine',
    /^mine\.yml: the document declares no preset$/,
  ],
  [
    'whose declaration is refused',
    '- {name: agent-preset, config: {id: mine}}\n',
    'mine',
    /^mine\.yml: invalid config:\n {2}- is required \(at plugins\)$/,
  ],
  [
    'with two rows that fail',
    '- {id: a, name: nowhere}\n- {id: b, name: tool-nothing}\n',
    'mine',
    /^mine\.yml: cannot import nowhere: [^\n]+\ncannot import tool-nothing: [^\n]+$/,
  ],
] as const)('a document %s is told of by its file and its reason', async ([, text, id, reason]) => {
  const { documents, pathOf } = await documentsOf({ mine: text, own: OWN })
  expect(documents.broken()).toEqual([{ id, file: pathOf('mine'), reason: expect.stringMatching(reason) as string }])
})

test('a document named as a preset that is declared elsewhere goes by its whole name', async () => {
  const { documents, pathOf } = await documentsOf({ minimal: '- {', file: named('inside'), inside: '[]\n' })
  expect(documents.broken().map(({ id, file }) => [id, file])).toEqual([
    ['inside.yml', pathOf('inside')],
    ['minimal.yml', pathOf('minimal')],
  ])
})

test('the own texts are those of the data folder as they were last read', async () => {
  const { documents, pathOf, made } = await documentsOf({ own: OWN, torn: '- {', huge: HUGE })
  const texts = () => [...documents.ownTexts()].map(({ filename, text }) => [filename, text])
  const all = [
    [pathOf('own'), OWN],
    [pathOf('torn'), '- {'],
  ]
  expect(texts()).toEqual(all)
  await rm(pathOf('own'))
  expect(texts()).toEqual(all)
  await made.host.reload()
  expect(texts()).toEqual(all.slice(1))
})
