import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalog } from '../catalog.ts'
import { PROBES } from '../boot-testing.ts'
import { checkText, readText } from './check.ts'
import { importer } from './loader.ts'
import { knowledgeOf, vocabularyOf } from './vocabulary.ts'
import type { CheckWorld } from './check.ts'
import type { Diagnostic } from '../wire/presets.ts'

const CATALOG = { ...catalog, ...PROBES }
const FOLDER = new URL('../../presets/', import.meta.url).href
const KNOWN = knowledgeOf(CATALOG, importer(CATALOG), FOLDER)

const WORLD: CheckWorld = {
  known: KNOWN,
  baseUrl: FOLDER,
  trial: async () => ({ rows: [] }),
  active: async () => undefined,
}

const document = (rows: string, id = 'mine'): string =>
  `- id: row\n  name: agent-preset\n  config:\n    id: ${id}\n    plugins:\n${rows.replaceAll(/^(?=.)/gm, '      ')}`

const brief = ({ severity, message, line, column, at }: Diagnostic) => ({ severity, message, line, column, at })

async function faultsOf(text: string): Promise<ReturnType<typeof brief>[]> {
  return (await checkText(text, WORLD)).diagnostics.map(brief)
}

test.for([
  ['unparsable YAML', '- id: a\n  name: [agent-preset\n', 3, 1, /Flow sequence|unexpected end/i],
  ['a map in place of a list', 'id: a\nname: agent-preset\n', 1, 1, /not a list/],
  ['nothing', '', 1, 1, /not a list/],
  ['an empty list', '[]', 1, 1, /is empty/],
  ['another row', '- name: persona\n', 1, 9, /declared by agent-preset/],
  ['a text in place of a row', '- hello\n', 1, 3, /not a map/],
  [
    'two presets',
    '- {id: a, name: agent-preset, config: {id: a, plugins: []}}\n- {id: b}\n',
    2,
    3,
    /more than one row/,
  ],
  ['a blank id', '- name: agent-preset\n  config:\n    id: "  "\n    plugins: []\n', 3, 9, /is blank/],
  [
    'an unknown key of the row',
    '- name: agent-preset\n  confg: 1\n  config: {id: a, plugins: []}\n',
    2,
    3,
    /confg.*config/,
  ],
  [
    'an unknown key of the declaration',
    '- name: agent-preset\n  config:\n    id: a\n    titel: x\n    plugins: []\n',
    4,
    5,
    /titel/,
  ],
  ['no rows', '- name: agent-preset\n  config:\n    id: a\n', 3, 5, /plugins.*required/],
  ['an alias bomb', bomb(), 1, 1, /more than 20000 values/],
  ['an alias to itself', '- &a [*a]\n', 1, 1, /contains itself/],
  ['a key that stands twice', '- name: agent-preset\n  name: agent-preset\n', 2, 3, /unique|duplicated/],
  ['a tag that nobody knows', '- name: !!python/object x\n', 1, 26, /tag/],
  ['too many bytes', document(`- name: persona\n  config: {prefix: "${'x'.repeat(1_000_000)}"}`), 1, 1, /256 KiB/],
] as const)('B-07 a document of %s is answered with a place', async ([, text, line, column, message]) => {
  const [first] = await faultsOf(text)
  expect(first).toMatchObject({ severity: 'error', line, column, message: expect.stringMatching(message) as string })
})

function bomb(): string {
  const lines = ['- &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let index = 1; index < 9; index++) lines.push(`- &a${index} [${`*a${index - 1}, `.repeat(10)}]`)
  return lines.join('\n')
}

test.for([
  ['- name: tool-bsh', 6, 15, 'plugins[0] tool-bsh', /Did you mean tool-bash\?/],
  ['- {id: s, name: session-store}', 6, 23, 'plugins[0] s', /host row/],
  ['- {id: a, name: tool-fs}\n- {id: a, name: tool-todo}', 7, 14, 'plugins[1] a', /stands twice/],
  ['- {id: "", name: tool-fs}', 6, 14, 'plugins[0] tool-fs', /id is blank/],
  ['- hello', 6, 9, 'plugins[0]', /Row 1 is not a map/],
  ['- id: x', 6, 9, 'plugins[0] x', /lacks a non-empty name/],
  ['- {id: b, name: tool-bash, isolat: {fs: true}}', 6, 34, 'plugins[0] b', /isolat.*isolate/],
  ['- {id: p, name: persona, config: {prefx: hi}}', 6, 41, 'plugins[0] p > config.prefx', /prefx.*prefix/],
  ['- {id: p, name: persona, config: {prefix: 3}}', 6, 49, 'plugins[0] p > config.prefix', /expected string/],
  ['- {id: f, name: tool-fs, config: {x: 1}}', 6, 41, 'plugins[0] f > config.x', /unknown key x/],
  ['- id: g\n  name: cordis:group\n  config: 3', 8, 17, 'plugins[0] g > config', /not a list of rows/],
  [
    '- id: g\n  name: cordis:group\n  config:\n    - {id: p, name: persona, config: {prefix: x, sufix: y}}',
    9,
    56,
    'plugins[0] g > config[0] p > config.sufix',
    /sufix.*suffix/,
  ],
] as const)('a row %s is answered with its place and path', async ([rows, line, column, at, message]) => {
  const found = await faultsOf(document(rows))
  expect(found).toContainEqual({
    severity: 'error',
    line,
    column,
    at,
    message: expect.stringMatching(message) as string,
  })
})

test('a retired key is a warning that names its successor, and nothing else', async () => {
  expect(await faultsOf(document('- {id: p, name: persona, config: {text: hi}}'))).toEqual([
    {
      severity: 'warning',
      message: 'the key text is retired, write prefix',
      line: 6,
      column: 41,
      at: 'plugins[0] p > config.text',
    },
  ])
})

test('nothing is said of what an expression will be, and nothing is evaluated', async () => {
  const rows = `- id: p
  name: persona
  disabled: !!js "(() => { throw new Error('evaluated') })()"
  config:
    prefix: !!js process.exit(3)
    colour: red`
  expect(await faultsOf(document(rows))).toEqual([
    expect.objectContaining({ message: 'unknown key colour', at: 'plugins[0] p > config.colour' }),
  ])
})

test('a document keeps its id when it is an edit of a preset', async () => {
  const { diagnostics, preset } = await checkText(document('[]', 'other'), WORLD, 'mine')
  expect(preset).toBe('other')
  expect(diagnostics).toContainEqual(
    expect.objectContaining({ line: 4, column: 9, message: expect.stringContaining('may not change') }),
  )
})

test('what a trial finds stands at the row that it is about', async () => {
  const world: CheckWorld = {
    ...WORLD,
    trial: async ({ plugins }) => ({
      rows: [
        { id: 'fine', name: 'tool-fs', enabled: true, state: 'active' },
        { id: 'bad', name: 'tool-todo', enabled: true, state: 'failed', problem: 'no luck' },
      ],
      broken: `of ${plugins.length}`,
    }),
  }
  const rows = '- {id: fine, name: tool-fs}\n- id: g\n  name: cordis:group\n  config:\n    - {id: bad, name: tool-todo}'
  const { diagnostics, dry } = await checkText(document(rows), world)
  expect(dry).toBeUndefined()
  expect(diagnostics.map(brief)).toEqual([
    { severity: 'error', message: 'tool-todo: no luck', line: 10, column: 13, at: 'plugins[1] g > config[0] bad' },
  ])
})

test('the shipped documents have nothing that a check could say', async () => {
  for (const name of ['standard', 'minimal']) {
    const text = readFileSync(join(import.meta.dirname, `../../presets/${name}.yml`), 'utf8')
    const { found, preset } = await readText(text, KNOWN)
    expect([preset, found.list]).toEqual([name, []])
  }
})

test('the vocabulary names every row of a preset with the schema of its config', async () => {
  const { rows } = await vocabularyOf(catalog)
  expect(rows.map(({ name }) => name)).toEqual(
    Object.keys(catalog)
      .filter((name) => catalog[name]!.plane === 'preset')
      .toSorted(),
  )
  expect(rows.every(({ about }) => about !== undefined && about.endsWith('.'))).toBe(true)
  expect(rows.find(({ name }) => name === 'persona')).toMatchObject({
    config: { type: 'object', required: ['prefix'], properties: { complete: { type: 'boolean' } } },
  })
})

const SHIPPED = readFileSync(join(import.meta.dirname, '../../presets/minimal.yml'), 'utf8')
const PIECES = [
  '- ',
  ': ',
  '\n',
  '  ',
  '&a ',
  '*a',
  '[',
  '{',
  '}',
  ']',
  '"',
  "'",
  '!!js ',
  '|\n',
  '\t',
  '#',
  '? ',
  '<<',
  '\0',
  '\u2028',
  'name',
  '💥',
]

test('a mutated document is always answered, with places that lie in it', { timeout: 120_000 }, async () => {
  const mutation = fc.record({
    at: fc.nat(SHIPPED.length),
    cut: fc.nat(40),
    put: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 8 })),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 6 }), async (mutations) => {
      let text = SHIPPED
      for (const { at, cut, put } of mutations) text = text.slice(0, at) + put + text.slice(at + cut)
      const { diagnostics } = await checkText(text, WORLD)
      const lines = text.split('\n').length
      for (const { line, column, message } of diagnostics) {
        expect(line).toBeGreaterThanOrEqual(1)
        expect(line).toBeLessThanOrEqual(lines + 1)
        expect(column).toBeGreaterThanOrEqual(1)
        expect(message).not.toBe('')
      }
    }),
    { numRuns: 300 },
  )
})
