import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cleanText } from './clean.ts'
import { keepSpill, Spill, spillPlace, type SpillOptions } from './spill.ts'

let folder: string
let count = 0

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spill-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const place = () => ({ shown: `/shown/${++count}`, real: join(folder, `${count}`) })
const spill = (options: Partial<SpillOptions> = {}) => new Spill({ from: 10, place, ...options })

test('a short output makes no file, a long one that is shown whole leaves none', () => {
  const short = spill()
  short.push(Buffer.from('0123456789'))
  expect(short.end(true)).toBeUndefined()
  const shown = spill()
  shown.push(Buffer.from('0123456789a'))
  expect(existsSync(join(folder, `${count}`))).toBe(true)
  expect(shown.end(false)).toBeUndefined()
  expect(existsSync(join(folder, `${count}`))).toBe(false)
})

test('the file is private, bounded, and says whether it is all', () => {
  const made = spill({ most: 100 })
  for (let line = 0; line < 100; line++) made.push(Buffer.from(`line ${line}\n`))
  const kept = made.end(true)!
  expect(kept).toMatchObject({ path: `/shown/${count}`, bytes: 100, whole: false })
  expect(statSync(kept.real)).toMatchObject({ size: 100, mode: 0o100600 })
})

test('what lies there already is neither followed nor overwritten', () => {
  writeFileSync(join(folder, 'target'), 'mine')
  const real = join(folder, 'link')
  symlinkSync(join(folder, 'target'), real)
  const made = spill({ place: () => ({ shown: '/x', real }) })
  made.push(Buffer.from('0123456789abc'))
  expect(made.end(true)).toBeUndefined()
  expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('mine')
  const gone = spill({ place: () => ({ shown: '/x', real: join(folder, 'none/x') }) })
  gone.push(Buffer.from('0123456789abc'))
  expect(gone.end(true)).toBeUndefined()
})

test('whole lines are cleaned as the result is, wherever the stream is cut', () => {
  const piece = fc.constantFrom('word ', 'ü', '\r\n', '\n', '\x1b[31m', '10%\r', '\x1b]0;t\x07', 'SECRET line\n')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 20 }), (parts, size) => {
      const bytes = Buffer.from(`${parts.join('')}\n${'x'.repeat(20)}\n`)
      const line = (text: string) => (text.includes('SECRET') ? undefined : text)
      const made = spill({ scrub: { mark: 'SECRET', line } })
      for (let at = 0; at < bytes.length; at += size) made.push(bytes.subarray(at, at + size))
      const kept = made.end(true)!
      expect(readFileSync(kept.real, 'utf8')).toBe(cleanText(bytes.toString(), line))
      expect(kept.whole).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('of an agent the oldest files go when there are too many bytes, and its folder goes with it', async () => {
  const effects: (() => void | Promise<void>)[] = []
  const agent = { id: 'a', scope: {}, cwd: '/', onClose: (effect: () => void | Promise<void>) => effects.push(effect) }
  const files = [1, 2, 3].map((index) => {
    const { real } = spillPlace(agent, `call/${index}`, undefined)
    expect(real).toMatch(/core-web-output-\w+\/call_\d-[0-9a-f]{8}\.log$/)
    writeFileSync(real, 'x')
    keepSpill(agent, { path: real, real, bytes: 60, whole: true }, 150)
    return real
  })
  expect(files.map((file) => existsSync(file))).toEqual([false, true, true])
  for (const effect of effects) await effect()
  expect(files.some((file) => existsSync(join(file, '..')))).toBe(false)
  expect(spillPlace(agent, 'c', { shown: '/tmp', real: folder }).real.startsWith(`${folder}/c-`)).toBe(true)
})
