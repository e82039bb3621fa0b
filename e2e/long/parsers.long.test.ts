import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeDisk } from '../../server/log/jsonl/disk.ts'
import { decodeLine, encodeLine } from '../../server/log/jsonl/line.ts'
import { scanLog } from '../../server/log/jsonl/scan.ts'
import { parsePlaced } from '../../server/preset/check-yaml.ts'
import { parseList } from '../../server/preset/file.ts'
import { cleanKept, cleanText } from '../../server/terminal/clean.ts'
import { FENCE, FENCE_END } from '../../server/terminal/line.ts'
import { Ring } from '../../server/terminal/ring.ts'
import { Transcript } from '../../server/terminal/transcript.ts'
import { ROOT } from '../host.ts'
import { fuzz } from './fuzz.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'core-web-fuzz-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A text with a few places cut out, doubled, or replaced by what the grammar knows. */
function mangled(texts: readonly string[], words: readonly string[]): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat({ max: 30 }),
    put: fc.constantFrom(...words),
  })
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 6 }))
    .map(([text, changes]) => {
      let shown = text
      for (const { at, cut, put } of changes) {
        const from = Math.floor(at * shown.length)
        shown = shown.slice(0, from) + put + shown.slice(from + cut)
      }
      return shown
    })
}

describe('YAML of presets and patches', () => {
  const texts = readdirSync(join(ROOT, 'presets')).map((name) => readFileSync(join(ROOT, 'presets', name), 'utf8'))
  const words = [
    '',
    '- ',
    ': ',
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '!!js ',
    '!!binary |\n',
    '? ',
    '|\n',
    '>-\n',
    '<<: *a\n',
    "'",
    '"',
    '#',
    '\t',
    '\0',
    '\ufeff',
    '---\n',
    '...\n',
    '%YAML 9\n',
    '!<tag:x> ',
    '__proto__: 1\n',
    '\u2028',
    '😀',
    '\ud800',
  ]

  test('B-07 any text is a list or a refusal with a place, and never takes long', async (context) => {
    const run = fuzz(4_000)
    await context.annotate(`seed ${run.seed}, ${run.numRuns} texts`)
    let slowest = 0
    fc.assert(
      fc.property(
        fc.oneof(
          mangled(texts, words),
          fc.array(fc.constantFrom(...words, 'a', ' ', '\n'), { maxLength: 60 }).map((parts) => parts.join('')),
        ),
        (text) => {
          const begun = performance.now()
          const parsed = parsePlaced(text)
          slowest = Math.max(slowest, performance.now() - begun)
          if (parsed.ok) {
            expect(Array.isArray(parsed.document.data)).toBe(true)
            return
          }
          expect(parsed.diagnostics.length).toBeGreaterThan(0)
          for (const { line, column, message } of parsed.diagnostics) {
            expect(line).toBeGreaterThanOrEqual(1)
            expect(column).toBeGreaterThanOrEqual(1)
            expect(message).not.toBe('')
          }
        },
      ),
      run,
    )
    await context.annotate(`slowest ${Math.round(slowest)} ms`)
    expect(slowest).toBeLessThan(5_000)
    expect(({} as Record<string, unknown>)['1']).toBeUndefined()
  })

  test('B-07 the loader and the checker agree on what is a list', () => {
    fc.assert(
      fc.property(mangled(texts, words), (text) => {
        let loads = true
        try {
          parseList(text, 'x')
        } catch {
          loads = false
        }
        // The checker may refuse more (what has no place), never less.
        if (!loads) expect(parsePlaced(text).ok).toBe(false)
      }),
      fuzz(2_000),
    )
  })
})

describe('log lines', () => {
  test('SL-01 what was written comes back, and no other bytes are taken for a record', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 }),
        (record, flips) => {
          fc.pre(!('crc' in record) && !('__proto__' in record))
          const line = Buffer.from(encodeLine(record).slice(0, -1))
          expect(decodeLine(line)).toEqual(JSON.parse(JSON.stringify(record)))
          const torn = Buffer.from(line)
          for (const [at, by] of flips) torn[at % torn.length]! ^= by
          if (torn.equals(line)) return
          expect(decodeLine(torn)).toBeUndefined()
        },
      ),
      fuzz(20_000),
    )
  })

  test(
    'SL-10 a file of any bytes is read to its last good line, without an exception',
    { timeout: 300_000 },
    async () => {
      const path = join(folder, 'log.jsonl')
      const lines = [
        encodeLine({ version: 1, id: 's', createdAt: 1, cwd: '/', writer: 'x' }),
        ...[0, 1, 2].map((seq) =>
          encodeLine({ seq, at: 1, type: 'llm/warning', data: { turn: 0, step: 0, feature: 'x' } }),
        ),
      ]
      const part = fc.oneof(
        fc.constantFrom(...lines),
        fc.constantFrom('\n', '{}\n', '{"crc":"00000000"}\n', '\0\0\0\0', '\ufeff'),
        fc.string({ unit: 'binary' }),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(part, { maxLength: 8 }), fc.boolean(), async (parts, startsWell) => {
          writeFileSync(path, (startsWell ? lines[0]! : '') + parts.join(''))
          const file = await nodeDisk.open(path, 'r')
          try {
            const { events } = await scanLog(file)
            expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index))
          } finally {
            await file.close()
          }
        }),
        fuzz(2_000),
      )
    },
  )
})

describe('what a shell prints', () => {
  const ESCAPES = [
    '\x1b',
    '\x1b[',
    '\x1b[31m',
    '\x1b]8;;http://x\x07',
    '\x1b]52;c;aGk=\x1b\\',
    '\x1bP1$q\x1b\\',
    '\x1b(B',
    '\x1bc',
    '\x1b[2J',
    '\x9b31m',
    '\x07',
    '\r',
    '\r\n',
    '\n',
    '\b',
    '\0',
    'ä',
    '😀',
    'a',
    '\x1b]0;title',
  ]
  const noise = fc.array(
    fc.oneof(
      fc.constantFrom(...ESCAPES).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 40 },
  )

  test('HS-19 no escape sequence of a terminal is left in cleaned text, whatever was printed', () => {
    fc.assert(
      fc.property(noise, (parts) => {
        const text = cleanText(Buffer.concat(parts).toString())
        // oxlint-disable-next-line no-control-regex -- escapes are what is looked for
        expect(text).not.toMatch(/\x1b[[\]PX^_c-~]/)
        expect(text).not.toContain('\0')
      }),
      fuzz(20_000),
    )
  })

  test('a ring keeps both ends of any stream however it is cut, and its text is cleaned without an exception', () => {
    fc.assert(
      fc.property(noise, fc.nat({ max: 64 }), fc.integer({ min: 1, max: 64 }), (parts, head, tail) => {
        const ring = new Ring(head, tail)
        for (const part of parts) ring.push(part)
        const whole = Buffer.concat(parts)
        const kept = ring.kept()
        expect(kept.total).toBe(whole.length)
        expect(kept.head.equals(whole.subarray(0, head))).toBe(true)
        expect(kept.tail.equals(whole.subarray(Math.max(Math.min(head, whole.length), whole.length - tail)))).toBe(true)
        expect(kept.head.length + kept.tail.length + kept.omitted).toBe(whole.length)
        expect(cleanKept(kept).omitted).toBeGreaterThanOrEqual(kept.omitted)
      }),
      fuzz(10_000),
    )
  })

  test('the fences of a call are found however the stream is cut, and forged ones stay text', () => {
    const nonce = '0123456789abcdef'
    const fence = (token: string) => Buffer.from(FENCE + token + FENCE_END)
    const forged = fc.constantFrom(
      FENCE,
      `${FENCE}S`,
      `${FENCE}fedcba9876543210${FENCE_END}`,
      `${FENCE}S${nonce}`,
      FENCE_END,
    )
    const inside = fc.array(
      fc.oneof(
        forged.map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(inside, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (parts, sizes) => {
        const output = Buffer.concat(parts)
        fc.pre(!output.includes(fence(nonce)) && !output.includes(fence(`S${nonce}`)))
        // A forgery that breaks off right before the true end would swallow it; the shell writes a line end first.
        const stream = Buffer.concat([
          fence(`S${nonce}`),
          output,
          Buffer.from('\n'),
          fence(nonce),
          Buffer.from('after'),
        ])
        let ended = 0
        const seen: Buffer[] = []
        const transcript = new Transcript(nonce, {
          started: () => {},
          ended: () => (ended++, true),
          output: (chunk) => void seen.push(Buffer.from(chunk)),
        })
        let rest = Buffer.alloc(0)
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = sizes[turn % sizes.length]!
          rest = Buffer.concat([rest, transcript.push(stream.subarray(at, at + size))])
          at += size
        }
        expect(ended).toBe(1)
        expect(rest.toString()).toBe('after')
        expect(Buffer.concat(seen).toString('latin1')).toBe(`${output.toString('latin1')}\n`)
      }),
      fuzz(20_000),
    )
  })
})
