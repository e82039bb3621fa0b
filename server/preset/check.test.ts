import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalog } from '../catalog.ts'
import { PROBES } from '../boot-testing.ts'
import { checkText, readText } from './check.ts'
import { importer } from './loader.ts'
import { knowledgeOf, vocabularyOf } from './vocabulary.ts'
import type { CheckWorld, Trial } from './check.ts'
import type { Diagnostic, DryRun } from '../wire/presets.ts'

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

/** A world that notes what it was asked. */
function worldWith(outcome: Awaited<ReturnType<Trial>> | Error | string, active?: DryRun) {
  const asked: { trials: unknown[]; active: string[] } = { trials: [], active: [] }
  const world: CheckWorld = {
    ...WORLD,
    trial: async (declaration, base) => {
      asked.trials.push([declaration, base])
      // A row's code may throw anything.
      if (typeof outcome === 'string' || outcome instanceof Error) throw outcome
      return outcome
    },
    active: async (preset) => {
      asked.active.push(preset)
      return active
    },
  }
  return { asked, world }
}

const DRY = { tools: [] } as unknown as DryRun

test('a sound text is tried once, from the folder of the documents, and compared with what it is an edit of', async () => {
  const now = { ...DRY, sections: [] } as unknown as DryRun
  const { asked, world } = worldWith({ rows: [], dry: DRY }, now)
  expect(await checkText(document('- {id: a, name: tool-fs}'), world, 'mine')).toStrictEqual({
    preset: 'mine',
    diagnostics: [],
    dry: DRY,
    active: now,
  })
  expect(asked).toEqual({
    trials: [[{ id: 'mine', plugins: [{ id: 'a', name: 'tool-fs' }] }, { baseUrl: FOLDER }]],
    active: ['mine'],
  })
})

test.for([
  ['the preset that it edits', document('[]', 'other'), 'mine', 'mine'],
  ['the one that it declares', document('[]', 'other'), undefined, 'other'],
  ['none, where it declares none', '[]', undefined, ''],
] as const)('a text is compared with %s', async ([, text, edited, expected]) => {
  const { asked, world } = worldWith({ rows: [] })
  expect(await checkText(text, world, edited)).not.toHaveProperty('active')
  expect(asked.active).toEqual([expected])
})

test.for([
  ['no YAML', '- {'],
  ['no row', '[]'],
  ['another row', '- {name: persona}'],
  ['no config', '- name: agent-preset'],
  ['no map as config', '- {name: agent-preset, config: }'],
  ['no id', '- {name: agent-preset, config: {plugins: []}}'],
  ['a number as id', '- {name: agent-preset, config: {id: 3, plugins: []}}'],
  ['a blank id', '- {name: agent-preset, config: {id: " ", plugins: []}}'],
])('a text with %s declares no preset and no rows, and is not tried', async ([, text]) => {
  const { found, ...read } = await readText(text!, KNOWN)
  expect([read, found.failed]).toStrictEqual([{ rows: [] }, true])
  const { asked, world } = worldWith({ rows: [] })
  const { diagnostics, ...answer } = await checkText(text!, world, 'mine')
  expect([answer, asked.trials]).toStrictEqual([{}, []])
  expect(diagnostics).toEqual(found.list.toSorted((a, b) => a.line - b.line || a.column - b.column))
  expect(diagnostics.map(({ message }) => message).join()).not.toMatch(/may not change/)
})

test('a text without rows lacks the key, and nothing is said of a list', async () => {
  expect(await faultsOf('- name: agent-preset\n  config:\n    id: mine\n')).toEqual([
    expect.objectContaining({ message: expect.stringContaining('plugins'), line: 3, column: 5 }),
  ])
})

test('an id that changed stands at the id, and nothing is tried', async () => {
  const { asked, world } = worldWith({ rows: [], dry: DRY })
  const { diagnostics, dry } = await checkText(document('[]', 'other'), world, 'mine')
  expect(diagnostics).toStrictEqual([
    {
      endLine: 4,
      endColumn: 14,
      severity: 'error',
      message: 'The id may not change: it is mine. Copy the preset to have it under another id.',
      line: 4,
      column: 9,
    },
  ])
  expect([dry, asked.trials]).toEqual([undefined, []])
})

test('what is said stands in the order of the text, by lines and then by columns', async () => {
  const rows = [
    '- {id: a, name: tool-fs, config: {x: 1}}',
    '- {name: persona, config: {prefix: hello, sufix: y}}',
    '- {id: a, name: tool-todo, isolat: {}, config: {y: 1}}',
    '- 1',
  ]
  const places = (await faultsOf(document(rows.join('\n')))).map(({ line, column }) => [line, column])
  expect(places).toEqual([
    [6, 41],
    [7, 49],
    [8, 14],
    [8, 34],
    [8, 55],
    [9, 9],
  ])
})

const AT_ROWS = { endLine: 6, endColumn: 31, line: 6, column: 7, at: 'plugins' }
const AT_ROW = { endLine: 6, endColumn: 31, line: 6, column: 9, at: 'plugins[0] a' }
const failing = (id?: string) => ({
  ...(id !== undefined && { id }),
  name: 'tool-fs',
  enabled: true,
  state: 'failed' as const,
  problem: 'no luck',
})

test.for<[string, Parameters<typeof worldWith>[0], object[]]>([
  ['a row that fails', { rows: [failing('a')] }, [{ severity: 'error', message: 'tool-fs: no luck', ...AT_ROW }]],
  [
    'one that the text does not have',
    { rows: [failing('z')] },
    [{ severity: 'error', message: 'tool-fs: no luck', ...AT_ROWS }],
  ],
  ['one without an id', { rows: [failing()] }, [{ severity: 'error', message: 'tool-fs: no luck', ...AT_ROWS }]],
  [
    'a row that is missed, while the rest works',
    { rows: [failing('a')], broken: 'a waits', dry: DRY },
    [{ severity: 'warning', message: 'tool-fs: no luck', ...AT_ROW }],
  ],
  ['a reason of no row', { rows: [], broken: 'it leaks' }, [{ severity: 'error', message: 'it leaks', ...AT_ROWS }]],
  [
    'one that leaves it usable',
    { rows: [], broken: 'it waits', dry: DRY },
    [{ severity: 'warning', message: 'it waits', ...AT_ROWS }],
  ],
  ['a refusal', new Error('not today'), [{ severity: 'error', message: 'not today', ...AT_ROWS }]],
  ['a refusal in a word', 'never', [{ severity: 'error', message: 'never', ...AT_ROWS }]],
])('a trial that ends in %s', async ([, outcome, expected]) => {
  const { world } = worldWith(outcome)
  const { diagnostics } = await checkText(document('- {id: a, name: tool-fs}'), world)
  expect(diagnostics).toStrictEqual(expected)
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
