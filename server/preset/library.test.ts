import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { sha256 } from './kernel.ts'
import { OWN, ids, libraryHost, libraryOver, refusal, toolsOf } from '../boot-library.fixture.ts'

test('a shipped preset is copied with everything that is written in it, under its own id', async () => {
  const made = await libraryHost({})
  const shipped = await readFile(join(made.rootDir, 'presets/minimal.yml'), 'utf8')
  expect(await made.library.copy('minimal', 'mine', 'Mine: "quoted" <b>')).toEqual({ preset: 'mine' })
  expect(await made.read('mine')).toBe(
    shipped
      .replace('- id: minimal', '- id: mine')
      .replace('    id: minimal\n', `    id: mine\n    name: 'Mine: "quoted" <b>'\n`),
  )
  expect(made.presets.list().find(({ id }) => id === 'mine')).toEqual({
    id: 'mine',
    name: 'Mine: "quoted" <b>',
    order: 3,
  })
  expect(await toolsOf(made, 'mine')).toEqual(await toolsOf(made, 'minimal'))
  expect((await stat(made.pathOf('mine'))).mode & 0o777).toBe(0o600)
})

test('a copy of an own document keeps comments, order and expressions', async () => {
  const made = await libraryHost()
  await made.library.copy('own', 'second')
  expect(await made.read('second')).toBe(
    OWN.replace('- id: row', '- id: second').replace('    id: own', '    id: second'),
  )
})

test.for([
  ['a shipped id', 'minimal', 'agent-preset/exists'],
  ['an own id', 'own', 'agent-preset/exists'],
  ['the file of a broken document', 'torn', 'agent-preset/exists'],
  ['a way out', '../out', 'agent-preset/invalid'],
  ['a path', 'a/b', 'agent-preset/invalid'],
  ['a hidden file', '.history', 'agent-preset/invalid'],
  ['nothing', '', 'agent-preset/invalid'],
  ['markup', '<b>', 'agent-preset/invalid'],
] as const)('%s is refused as the id of a new document', async ([, id, code]) => {
  const made = await libraryHost({ own: OWN, torn: '- {id: [' })
  const documents = async () => (await readdir(join(made.dataDir, 'presets'))).filter((name) => !name.startsWith('.'))
  const before = await documents()
  expect(await refusal(made.library.copy('standard', id))).toMatchObject({ code })
  expect(await refusal(made.library.import(OWN, id))).toMatchObject({ code })
  expect(await documents()).toEqual(before)
})

test('a document is imported as it is, or under another id; what does not parse is refused with its places', async () => {
  const made = await libraryHost({})
  expect(await made.library.import(OWN)).toEqual({ preset: 'own' })
  expect(await made.read('own')).toBe(OWN)
  expect(await made.library.import(OWN, 'again')).toEqual({ preset: 'again' })
  expect(await made.read('again')).toBe(OWN.replace('    id: own', '    id: again'))
  expect(ids(made)).toEqual(['standard', 'minimal', 'again', 'own'])
  expect(await refusal(made.library.import('- {id: [', 'bad'))).toMatchObject({
    code: 'agent-preset/invalid',
    details: { diagnostics: expect.arrayContaining([expect.objectContaining({ line: 1, severity: 'error' })]) },
  })
  expect(await refusal(made.library.import(OWN))).toMatchObject({
    code: 'agent-preset/exists',
    message: expect.stringContaining('own'),
  })
})

test('the source is the whole document with its place and digest, of shipped and own ones', async () => {
  const made = await libraryHost()
  expect(await made.library.source('own')).toMatchObject({
    preset: 'own',
    own: true,
    file: made.pathOf('own'),
    text: OWN,
    digest: sha256(OWN),
    versions: [],
  })
  const { own, text, versions } = await made.library.source('minimal')
  expect([own, text, versions]).toEqual([false, await readFile(join(made.rootDir, 'presets/minimal.yml'), 'utf8'), []])
  expect(await refusal(made.library.source('ghost'))).toMatchObject({
    code: 'agent-preset/not-found',
    details: { available: ['standard', 'minimal', 'own'] },
  })
})

test('names, descriptions and orders change in the text, and nothing else does', async () => {
  const made = await libraryHost()
  await made.library.describe('own', { name: 'Ünïcode: #1', order: 7 })
  const named = OWN.replace('    id: own\n', '    id: own\n    order: 7\n    name: "Ünïcode: #1"\n')
  expect(await made.read('own')).toBe(named)
  expect(made.presets.list().find(({ id }) => id === 'own')).toMatchObject({ name: 'Ünïcode: #1', order: 7 })
  await made.library.describe('own', { name: null, order: null, description: 'one\ntwo: !!js x' })
  expect(await made.read('own')).toBe(
    OWN.replace('    description: >-\n      Two lines\n      of text.\n', '    description: "one\\ntwo: !!js x"\n'),
  )
  await made.library.describe('own', { description: null })
  expect(made.presets.list().find(({ id }) => id === 'own')).toEqual({ id: 'own' })
})

test('texts in flow style are described too', async () => {
  const flow =
    '- {id: r, name: agent-preset, config: {id: flow, plugins: [{name: probe-tool, config: {name: a}}]}} # end\n'
  const made = await libraryHost({ flow })
  await made.library.describe('flow', { name: 'N' })
  expect(await made.read('flow')).toBe(flow.replace('{id: flow,', '{id: flow, name: N,'))
  await made.library.describe('flow', { name: null })
  expect((await made.read('flow')).replaceAll(/\s/g, '')).toBe(flow.replaceAll(/\s/g, ''))
})

test('a saved text is in force when the answer comes: later users get it, present ones keep theirs', async () => {
  const made = await libraryHost()
  const [old, fresh] = [{}, {}]
  await made.presets.mount(old, 'own')
  const before = made.presets.registry.generationOf('own')
  const next = OWN.replace('{name: one}', '{name: two}')
  expect(await made.library.save('own', next, sha256(OWN))).toEqual({
    preset: 'own',
    digest: sha256(next),
    generation: before + 1,
  })
  await made.presets.mount(fresh, 'own')
  const namesOf = (scope: object) =>
    made.host
      .service('tools')!
      .view(scope)
      .map(({ spec }) => spec.name)
  expect([namesOf(old), namesOf(fresh)]).toEqual([['one'], ['two']])
  expect(await made.read('own')).toBe(next)
})

test('two tabs save at once: one wins, the other is told, and nothing of it is written', async () => {
  const made = await libraryHost()
  const texts = ['left', 'right'].map((name) => OWN.replace('{name: one}', `{name: ${name}}`))
  const outcomes = await Promise.allSettled(texts.map((text) => made.library.save('own', text, sha256(OWN))))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect((outcomes[1] as PromiseRejectedResult).reason).toMatchObject({
    code: 'agent-preset/changed-meanwhile',
    details: { digest: sha256(texts[0]!) },
  })
  expect(await made.read('own')).toBe(texts[0])
})

test.for([
  ['that does not parse', '- {id: ['],
  ['with another id', OWN.replace('id: own', 'id: other')],
  ['with a row that fails', OWN.replace('disabled: !!js "1 < 2"', 'disabled: false')],
  ['with a row that nobody knows', OWN.replace('name: probe-tool', 'name: probe-tol')],
  ['with a host row', OWN.replace('name: probe-tool\n        config: {name: one}', 'name: session-store')],
  ['with a wrong config', OWN.replace('{name: one}', '{nam: one}')],
  ['of a megabyte', OWN.replace('Two lines', 'x'.repeat(1024 * 1024))],
])('a text %s is refused with its places, and the running preset stays', async ([, text]) => {
  const made = await libraryHost()
  expect(await refusal(made.library.save('own', text!, sha256(OWN)))).toMatchObject({
    code: 'agent-preset/invalid',
    message: expect.stringMatching(/line \d+/),
    details: { diagnostics: expect.arrayContaining([expect.objectContaining({ severity: 'error' })]) },
  })
  expect(await made.read('own')).toBe(OWN)
  expect([await toolsOf(made, 'own'), made.presets.registry.generationOf('own')]).toEqual([['one'], 1])
})

test('shipped documents are not written: copy first', async () => {
  const made = await libraryHost({})
  for (const work of [
    made.library.save('minimal', OWN, ''),
    made.library.describe('minimal', { name: 'x' }),
    made.library.delete('minimal'),
  ])
    expect(await refusal(work)).toMatchObject({
      code: 'agent-preset/not-own',
      message: expect.stringContaining('Copy it first'),
    })
})

test('every text is kept: what was saved, overwritten, deleted, and what another program wrote', async () => {
  const made = await libraryHost()
  const texts = ['two', 'three', 'four'].map((name) => OWN.replace('{name: one}', `{name: ${name}}`))
  await made.library.save('own', texts[0]!, sha256(OWN))
  await writeFile(made.pathOf('own'), texts[1]!)
  await made.host.reload()
  await made.library.noted()
  await made.library.save('own', texts[2]!, sha256(texts[1]!))
  const { versions } = await made.library.source('own')
  const kept = await Promise.all(versions.map(({ version }) => made.library.version('own', version)))
  expect(kept).toEqual([texts[1], texts[0], OWN])
  expect(versions.map(({ bytes }) => bytes)).toEqual(kept.map((text) => Buffer.byteLength(text)))
  expect(await refusal(made.library.version('own', '../../own'))).toMatchObject({ code: 'gateway/not-found' })
})

test('earlier texts are bounded in number and in bytes', async () => {
  let clock = 1_700_000_000_000
  const made = await libraryHost()
  const library = libraryOver(made, { now: () => clock++ })
  for (let index = 0; index < 55; index++) await library.describe('own', { order: index })
  const { versions } = await library.source('own')
  expect(versions).toHaveLength(49)
  for (let index = 0; index < 25; index++)
    await library.describe('own', { description: `${index} ${'x'.repeat(230_000)}` })
  const bytes = (await library.source('own')).versions.reduce((sum, version) => sum + version.bytes, 0)
  expect(bytes).toBeGreaterThan(4 * 1024 * 1024)
  expect(bytes).toBeLessThanOrEqual(5 * 1024 * 1024)
})

test('B-03 a deleted preset leaves its sessions what they have, and its text brings it back, sound or not', async () => {
  const torn = '- {id: [\n'
  const made = await libraryHost({ own: OWN, torn })
  const scope = {}
  await made.presets.mount(scope, 'own')
  expect(await made.library.delete('own')).toEqual({ preset: 'own', text: OWN })
  expect(ids(made)).toEqual(['standard', 'minimal'])
  expect(made.host.service('tools')!.view(scope)).toHaveLength(1)
  expect(await made.library.import(OWN)).toEqual({ preset: 'own' })
  expect(await toolsOf(made, 'own')).toEqual(['one'])
  expect((await made.library.delete('torn')).text).toBe(torn)
  expect(await made.library.import(torn, 'torn')).toEqual({ preset: 'torn' })
  expect(await made.read('torn')).toBe(torn)
})

test('a document that never parsed can be read and mended by the name of its file', async () => {
  const made = await libraryHost({ torn: '- id: row\n  name: [agent-preset\n' })
  expect(made.library.problems()).toEqual([
    { id: 'torn', file: made.pathOf('torn'), reason: expect.stringMatching(/^torn\.yml:3: /) },
  ])
  const { text, digest } = await made.library.source('torn')
  expect(text).toContain('[agent-preset')
  const mended = OWN.replace('id: own', 'id: torn')
  expect(await made.library.save('torn', mended, digest)).toMatchObject({ preset: 'torn', generation: 1 })
  expect([made.library.problems(), ids(made)]).toEqual([[], ['standard', 'minimal', 'torn']])
})

test('a link out of the folder is neither read nor written through', async () => {
  const made = await libraryHost({})
  const outside = join(made.rootDir, 'outside.yml')
  await writeFile(outside, OWN)
  await symlink(outside, made.pathOf('own'))
  await made.host.reload()
  for (const work of [
    made.library.source('own'),
    made.library.save('own', OWN, sha256(OWN)),
    made.library.delete('own'),
  ])
    expect(await refusal(work)).toMatchObject({ code: 'agent-preset/not-own' })
  expect(await readFile(outside, 'utf8')).toBe(OWN)
})

test('a full disk refuses, and the document and the running preset are what they were', async () => {
  const made = await libraryHost()
  const full = libraryOver(made, {
    write: async () => {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    },
  })
  const next = OWN.replace('{name: one}', '{name: two}')
  for (const work of [
    full.save('own', next, sha256(OWN)),
    full.describe('own', { name: 'x' }),
    full.copy('own', 'second'),
    full.import(OWN.replace('id: own', 'id: third')),
  ])
    expect(await refusal(work)).toMatchObject({
      code: 'agent-preset/not-saved',
      message: expect.stringContaining('ENOSPC'),
    })
  expect(await made.read('own')).toBe(OWN)
  expect(ids(made)).toEqual(['standard', 'minimal', 'own'])
  const files = await readdir(join(made.dataDir, 'presets'))
  expect(files.filter((name) => !name.startsWith('.'))).toEqual(['own.yml'])
})

test('a real write that fails half way leaves no file behind', async () => {
  const made = await libraryHost()
  const folder = join(made.dataDir, 'presets')
  // A folder in the place of the file: the rename cannot happen.
  await mkdir(join(folder, 'blocked.yml/inside'), { recursive: true })
  const { replaceFile } = await import('./library-files.ts')
  await expect(replaceFile(join(folder, 'blocked.yml'), OWN)).rejects.toThrow()
  expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  await rm(join(folder, 'blocked.yml'), { recursive: true })
})

test('a check compares with what new sessions get now, and leaves nothing behind', async () => {
  const made = await libraryHost()
  const compositions = made.presets.inspectCompositions().length
  const next = OWN.replace('{name: one}', '{name: two}')
  const { preset, diagnostics, dry, active } = await made.library.check(next, 'own')
  expect([preset, diagnostics]).toEqual(['own', []])
  expect([dry, active].map((side) => side?.tools.map(({ name }) => name))).toEqual([['two'], ['one']])
  expect([made.presets.inspectCompositions().length, ids(made)]).toEqual([compositions, ['standard', 'minimal', 'own']])
})

test('a check without a trial runs nothing: no module of the document is imported, no row started', async () => {
  const made = await libraryHost()
  const ran = join(made.dataDir, 'ran.txt')
  await writeFile(
    join(made.dataDir, 'presets', 'row.mjs'),
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(ran)}, 'yes')\nexport default { name: 'row', apply: async () => {} }\n`,
  )
  const text = OWN.replace('name: probe-tool', 'name: ./row.mjs').replace('        config: {name: one}\n', '')
  const read = await made.library.check(text, undefined, false)
  expect([read.dry, read.diagnostics.filter(({ severity }) => severity === 'error')]).toEqual([undefined, []])
  expect(existsSync(ran)).toBe(false)
  await made.library.check(text)
  expect(existsSync(ran)).toBe(true)
})

test('a preset that stands among other rows is given out as a document of its own', async () => {
  const rows = `${OWN}- id: other\n  name: agent-preset\n  config: {id: other, plugins: []}\n`
  const made = await libraryHost({ pair: rows })
  const { text } = await made.library.source('other')
  expect(text).toBe(rows)
  await made.library.copy('other', 'alone')
  expect(ids(made)).toContain('alone')
  expect(pathToFileURL(made.pathOf('alone')).protocol).toBe('file:')
})
