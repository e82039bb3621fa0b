import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FS_CODES, FsError } from './fs.ts'
import { localFs } from './fs-local.ts'
import { LineCollector } from './lines.ts'
import { workspace } from './testing.ts'
import { encodeText, Utf8Pieces } from './utf8.ts'

let W: string
let space: ReturnType<typeof workspace>
const at = (name: string): string => join(W, name)

beforeEach(() => {
  space = workspace()
  W = space.root
})
afterEach(() => space[Symbol.dispose]())

test('there are thirteen error codes, each once', () => {
  expect(new Set(FS_CODES).size).toBe(13)
})

test('two spellings of one place have one key; the shown path stays as spelled', async () => {
  const fs = localFs()
  mkdirSync(at('d'))
  symlinkSync('d', at('link'))
  const direct = await fs.resolve(at('d/new/file'))
  const linked = await fs.resolve('./link//new/file', W)
  expect(linked.key).toBe(direct.key)
  expect(linked.path).toBe(at('link/new/file'))
  expect(fs.contains(await fs.resolve(at('d')), linked)).toBe(true)
  expect(fs.contains(await fs.resolve('/'), linked)).toBe(true)
  mkdirSync(at('d2'))
  expect(fs.contains(await fs.resolve(at('d')), await fs.resolve(at('d2')))).toBe(false)
})

test('stat follows links, lstat does not, and absence is a value', async () => {
  const fs = localFs()
  writeFileSync(at('a'), 'abc')
  symlinkSync('a', at('link'))
  symlinkSync('gone', at('dangling'))
  expect(await fs.stat(await fs.resolve(at('link')))).toMatchObject({ kind: 'file', size: 3 })
  expect(await fs.lstat(await fs.resolve(at('link')))).toMatchObject({ kind: 'symlink' })
  expect(await fs.stat(await fs.resolve(at('dangling')))).toBeUndefined()
  expect(await fs.stat(await fs.resolve(at('no/where')))).toBeUndefined()
})

test('readBytes takes any content and at most the asked number of bytes', async () => {
  const fs = localFs()
  writeFileSync(at('a'), Buffer.from([0, 255, 1, 2]))
  const target = await fs.resolve(at('a'))
  expect([...(await fs.readBytes(target, 2))]).toEqual([0, 255])
  expect([...(await fs.readBytes(target, 1_000_000))]).toEqual([0, 255, 1, 2])
})

test('hooks: intents come before and can refuse, observations after success only', async () => {
  const events: string[] = []
  let refuse = false
  const veto = (kind: string) => () => {
    events.push(kind)
    if (refuse) throw new FsError('FS_SANDBOX_DENIED', 'no')
  }
  const fs = localFs({
    beforeWrite: veto('write-intent'),
    beforeEdit: veto('edit-intent'),
    observed: ({ version, session }) =>
      void events.push(`observed ${version === undefined ? 'absent' : 'version'} by ${session}`),
  })
  const target = await fs.resolve(at('a'))
  const options = { session: 's' }
  await expect(fs.readText(target, options)).rejects.toMatchObject({ code: 'FS_NOT_FOUND' })
  await fs.writeText(target, { text: 'one' }, { kind: 'createIfAbsent' }, options)
  await fs.editText(target, () => 'two', options)
  refuse = true
  await expect(fs.editText(target, () => 'three', options)).rejects.toMatchObject({ code: 'FS_SANDBOX_DENIED' })
  await expect(fs.writeText(target, { text: 'x' }, { kind: 'createIfAbsent' }, options)).rejects.toMatchObject({
    code: 'FS_SANDBOX_DENIED',
  })
  expect(events).toEqual([
    'observed absent by s',
    'write-intent',
    'observed version by s',
    'edit-intent',
    'observed version by s',
    'edit-intent',
    'write-intent',
  ])
  expect(readFileSync(at('a'), 'utf8')).toBe('two')
})

test('replaceIfVersion writes only over the version it names', async () => {
  const fs = localFs()
  const target = await fs.resolve(at('a'))
  const { version } = await fs.writeText(target, { text: 'one', bom: true }, { kind: 'createIfAbsent' })
  expect(readFileSync(at('a'), 'utf8')).toBe('\ufeffone')
  const next = await fs.writeText(target, { text: 'two' }, { kind: 'replaceIfVersion', version })
  expect(next.version).not.toBe(version)
  const stale = fs.writeText(target, { text: 'three' }, { kind: 'replaceIfVersion', version })
  await expect(stale).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
  await expect(fs.writeText(target, { text: '' }, { kind: 'createIfAbsent' })).rejects.toMatchObject({
    code: 'FS_EXISTS',
  })
  expect(readFileSync(at('a'), 'utf8')).toBe('two')
  execFileSync('rm', [at('a')])
  const gone = fs.writeText(target, { text: 'x' }, { kind: 'replaceIfVersion', version: next.version })
  await expect(gone).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
})

test('of many replacements of one version at once only the first is not stale', async () => {
  const providers = Array.from({ length: 20 }, () => localFs())
  writeFileSync(at('a'), 'start')
  const target = await localFs().resolve(at('a'))
  const { version } = await localFs().readText(target)
  const results = await Promise.allSettled(
    providers.map((fs, n) => fs.writeText(target, { text: `writer ${n}` }, { kind: 'replaceIfVersion', version })),
  )
  const winners = results.flatMap((result, n) => (result.status === 'fulfilled' ? [n] : []))
  expect(winners).toEqual([0])
  expect(readFileSync(at('a'), 'utf8')).toBe('writer 0')
})

test('listDir gives names in code-point order and refuses a file', async () => {
  const fs = localFs()
  for (const name of ['\u{1F600}', '\uFF21', 'b', 'B']) writeFileSync(at(name), '')
  const target = await fs.resolve(W)
  expect((await fs.listDir(target)).map((entry) => entry.name)).toEqual(['B', 'b', '\uFF21', '\u{1F600}'])
  await expect(fs.listDir(await fs.resolve(at('b')))).rejects.toMatchObject({ code: 'FS_INVALID_PATH' })
})

test('text cut into pieces anywhere reads as the whole', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '\n', '\r\n', '\u00e9', '\u20ac', '\u{1F600}', '\ufeff'),
    maxLength: 40,
  })
  fc.assert(
    fc.property(text, fc.boolean(), fc.integer({ min: 3, max: 9 }), (content, bom, size) => {
      const bytes = encodeText('/a', content, bom)
      const pieces = new Utf8Pieces('/a', bytes.length)
      const lines = new LineCollector({ from: 1, to: Infinity, budget: 10_000 })
      let joined = ''
      for (let from = 0; from < bytes.length; from += size) {
        const piece = pieces.push(bytes.subarray(from, from + size))
        joined += piece
        lines.push(piece)
      }
      pieces.end()
      const marked = bom || content.startsWith('\ufeff')
      const expected = !bom && marked ? content.slice(1) : content
      expect([joined, pieces.bom]).toEqual([expected, marked])
      const window = lines.end()
      const split = expected.split('\n')
      expect(window.total).toBe(split.length)
      expect(window.text).toBe(split.map((line, n) => `${String(n + 1).padStart(6)}  ${line}`).join('\n'))
      expect(window.crlf).toBe(expected.split('\r\n').length - 1)
    }),
    { numRuns: 300 },
  )
})

test('broken UTF-8 in any piece is refused with the offset of its first byte', () => {
  fc.assert(
    fc.property(fc.nat(30), fc.nat(30), fc.integer({ min: 3, max: 9 }), (before, after, size) => {
      const bytes = Buffer.concat([Buffer.alloc(before, 'a'), Buffer.from([0xe9]), Buffer.alloc(after, 'b')])
      const pieces = new Utf8Pieces('/a', bytes.length)
      const run = (): void => {
        for (let from = 0; from < bytes.length; from += size) pieces.push(bytes.subarray(from, from + size))
        pieces.end()
      }
      expect(run).toThrow(`offset ${before},`)
    }),
  )
})
