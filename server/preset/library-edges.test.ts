import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256 } from './kernel.ts'
import { replaceFile } from './library-files.ts'
import { OWN, ids, libraryHost, libraryOver, refusal } from '../boot-library.fixture.ts'

const named = (id: string): string => OWN.replace('id: own', `id: ${id}`)
const FULL = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
const isEarlier = (path: string): boolean => path.includes('/.history/')

test('a new preset has no active side, and nobody is asked for one', async () => {
  const made = await libraryHost()
  const { registry } = made.presets
  const asked: string[] = []
  const library = libraryOver(made, {
    registry: {
      list: () => registry.list(),
      generationOf: (id) => registry.generationOf(id),
      trial: (...given) => registry.trial(...given),
      settled: () => registry.settled(),
      describe: (id) => {
        asked.push(id)
        return registry.describe(id)
      },
    },
  })
  expect(await library.check(named('fresh'))).not.toHaveProperty('active')
  expect(asked).toEqual([])
  expect(await library.check(OWN)).toHaveProperty('active.tools.0.name', 'one')
  expect(asked).toEqual(['own'])
})

test('observers hear of documents that moved until they stop, or the library closes', async () => {
  const { library } = await libraryHost()
  const heard: string[] = []
  const stop = library.onChange(() => heard.push('first'))
  library.onChange(() => heard.push('second'))
  await library.noted()
  stop()
  await library.noted()
  await library.close()
  await library.noted()
  expect(heard).toEqual(['first', 'second', 'second'])
})

test('what another program wrote is kept when it is noted, and no more once the library closed', async () => {
  const made = await libraryHost()
  const texts = ['two', 'three', 'four'].map((name) => OWN.replace('{name: one}', `{name: ${name}}`))
  const kept = async () => {
    const { versions } = await made.library.source('own')
    return Promise.all(versions.map(({ version }) => made.library.version('own', version)))
  }
  await made.library.noted()
  for (const text of texts.slice(0, 2)) {
    await writeFile(made.pathOf('own'), text)
    await made.host.reload()
    await made.library.noted()
  }
  expect(await kept()).toEqual([texts[0], OWN])
  const folder = join(made.dataDir, 'presets/.history/own')
  expect(await readdir(folder)).toHaveLength(3)
  await made.library.close()
  await writeFile(made.pathOf('own'), texts[2]!)
  await made.host.reload()
  await made.library.noted()
  expect(await readdir(folder)).toHaveLength(3)
})

test('closing waits for what was begun', async () => {
  const made = await libraryHost()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const library = libraryOver(made, {
    write: async (path, text) => {
      await gate.promise
      await replaceFile(path, text)
    },
  })
  const copying = library.copy('own', 'second').then(() => order.push('copied'))
  const closing = library.close().then(() => order.push('closed'))
  gate.resolve()
  await Promise.all([copying, closing])
  expect(order).toEqual(['copied', 'closed'])
})

test('the vocabulary is made once', async () => {
  const { library } = await libraryHost({})
  const vocabulary = await library.vocabulary()
  expect(vocabulary.rows.map(({ name }) => name)).toContain('probe-tool')
  expect(await library.vocabulary()).toBe(vocabulary)
})

test('a version that is not there is named', async () => {
  const { library } = await libraryHost()
  for (const preset of ['own', 'minimal'])
    expect(await refusal(library.version(preset, 'x"'))).toMatchObject({
      code: 'gateway/not-found',
      message: `There is no version "x\\"" of the preset ${preset}.`,
    })
})

test.for<[string, string, string | undefined, object]>([
  ['under the id that was given', '- {', 'bad', { agentPreset: 'bad' }],
  ['under the given id rather than its own', `${OWN}    colour: red\n`, 'bad', { agentPreset: 'bad' }],
  ['under its own id', `${OWN}    colour: red\n`, undefined, { agentPreset: 'own' }],
  ['under none', '- {', undefined, {}],
])('a text that cannot be imported is refused %s', async ([, text, id, named]) => {
  const { library } = await libraryHost({})
  const { code, message, details } = await refusal(library.import(text, id))
  const { diagnostics, reason, ...rest } = details as { diagnostics: object[]; reason: string }
  expect([code, message, rest]).toEqual(['agent-preset/invalid', `The text was not imported, ${reason}`, named])
  expect(reason).toMatch(/^line \d+: ./)
  expect(diagnostics.length).toBeGreaterThan(0)
})

test('a torn text that comes back has to be given an id', async () => {
  const made = await libraryHost({ torn: '- {id: [\n' })
  const { text } = await made.library.delete('torn')
  expect(await refusal(made.library.import(text))).toEqual({
    code: 'agent-preset/invalid',
    message: 'The document does not say its id. Give it one.',
    details: { reason: 'no id' },
  })
  expect(await made.library.import(text, 'again')).toEqual({ preset: 'again' })
})

test.for(['own', undefined])('a text that says its id otherwise is imported byte by byte (%s)', async (id) => {
  const made = await libraryHost({})
  const text = named('"own" # mine')
  expect(await made.library.import(text, id)).toEqual({ preset: 'own' })
  expect(await made.read('own')).toBe(text)
})

test('warnings do not keep a text from being saved', async () => {
  const made = await libraryHost()
  const text = OWN.replace('name: probe-tool\n        config: {name: one}', 'name: persona\n        config: {text: Hi}')
  const { diagnostics } = await made.library.check(text, 'own')
  expect(diagnostics.map(({ severity }) => severity)).toEqual(['warning'])
  expect(await made.library.save('own', text, sha256(OWN))).toMatchObject({ preset: 'own', digest: sha256(text) })
  expect(await refusal(made.library.save('own', '- {', sha256(text)))).toMatchObject({
    message: expect.stringMatching(/^The text was not saved, line 1: ./),
    details: { agentPreset: 'own' },
  })
})

test('a torn document may be mended into a preset of another id that is free', async () => {
  const made = await libraryHost({ own: OWN, torn: '- {' })
  const base = sha256('- {')
  expect(await refusal(made.library.save('torn', OWN, base))).toMatchObject({
    code: 'agent-preset/exists',
    message: 'There is a preset own already. Choose another id.',
  })
  expect(await made.read('torn')).toBe('- {')
  expect(await made.library.save('torn', named('other'), base)).toEqual({
    preset: 'other',
    digest: sha256(named('other')),
    generation: 1,
  })
  expect([ids(made), await made.read('torn')]).toEqual([['standard', 'minimal', 'other', 'own'], named('other')])
})

test('a file of the other ending holds its name, too', async () => {
  const made = await libraryHost({})
  await writeFile(made.pathOf('mine').replace('.yml', '.yaml'), '- {')
  expect(await refusal(made.library.import(OWN, 'mine'))).toMatchObject({ code: 'agent-preset/exists' })
})

test('a text that is not given is left, and one that is there already writes nothing', async () => {
  const made = await libraryHost()
  const written: string[] = []
  const library = libraryOver(made, {
    write: async (path, text) => {
      written.push(path)
      await replaceFile(path, text)
    },
  })
  expect(await library.describe('own', { name: 'N', description: undefined, order: undefined })).toEqual({
    preset: 'own',
  })
  expect(await made.read('own')).toBe(OWN.replace('id: own\n', 'id: own\n    name: N\n'))
  expect(written.filter((path) => !isEarlier(path))).toEqual([made.pathOf('own')])
  const { ino } = await stat(made.pathOf('own'))
  const before = written.length
  expect(await library.describe('own', { name: 'N' })).toEqual({ preset: 'own' })
  expect([written.length, (await stat(made.pathOf('own'))).ino]).toEqual([before, ino])
})

test('a file that cannot be removed is still there, and so is its preset', async () => {
  const made = await libraryHost()
  const library = libraryOver(made, { remove: () => Promise.reject(new Error('EROFS: read-only file system')) })
  expect(await refusal(library.delete('own'))).toMatchObject({
    code: 'agent-preset/not-saved',
    message: 'The document was not saved: EROFS: read-only file system. What was there before is untouched.',
  })
  expect([ids(made), await made.read('own')]).toEqual([['standard', 'minimal', 'own'], OWN])
})

test('a shipped document that went from the disk is not found, and what there is is listed', async () => {
  const made = await libraryHost()
  await rm(join(made.rootDir, 'presets/minimal.yml'))
  for (const work of [made.library.source('minimal'), made.library.copy('minimal', 'mine')])
    expect(await refusal(work)).toEqual({
      code: 'agent-preset/not-found',
      message: 'There is no preset "minimal". Available: standard, minimal, own.',
      details: { agentPreset: 'minimal', available: ['standard', 'minimal', 'own'] },
    })
})

test('a text whose earlier one cannot be kept is not written over', async () => {
  const made = await libraryHost()
  const library = libraryOver(made, {
    write: (path, text) => (isEarlier(path) ? Promise.reject(FULL) : replaceFile(path, text)),
  })
  for (const work of [
    library.save('own', OWN.replace('{name: one}', '{name: two}'), sha256(OWN)),
    library.describe('own', { name: 'N' }),
    library.delete('own'),
  ])
    expect(await refusal(work)).toMatchObject({ code: 'agent-preset/not-saved' })
  expect(await readFile(made.pathOf('own'), 'utf8')).toBe(OWN)
})

test('a new text that cannot be kept among its versions is in force all the same, and that is told', async () => {
  const made = await libraryHost()
  const warnings: string[] = []
  const write = (path: string, text: string) => (isEarlier(path) ? Promise.reject(FULL) : replaceFile(path, text))
  const warn = (message: string) => void warnings.push(message)
  expect(await libraryOver(made, { write, warn }).copy('own', 'second')).toEqual({ preset: 'second' })
  expect(warnings).toEqual([
    `the text of ${made.pathOf('second')} could not be kept among its versions: ENOSPC: no space left on device`,
  ])
  expect(await libraryOver(made, { write }).copy('own', 'third')).toEqual({ preset: 'third' })
  expect(ids(made)).toEqual(['standard', 'minimal', 'own', 'second', 'third'])
})
