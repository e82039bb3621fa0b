import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanKept, cleanText, looksBinary } from './clean.ts'
import { shellEnvironment } from './environment.ts'
import { Live } from './live.ts'
import { Ring } from './ring.ts'
import { Transcript } from './transcript.ts'

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 })

/** Cuts bytes at arbitrary places. */
const cut = (bytes: Buffer, at: number[]) => {
  const places = [...new Set([0, ...at.map((place) => place % (bytes.length + 1)), bytes.length])].toSorted(
    (a, b) => a - b,
  )
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

test('a ring keeps exactly the first and the last bytes, whatever the chunks', () => {
  fc.assert(
    fc.property(chunks, fc.nat(30), fc.integer({ min: 1, max: 30 }), (parts, headSize, tailSize) => {
      const ring = new Ring(headSize, tailSize)
      for (const part of parts) ring.push(Buffer.from(part))
      const all = Buffer.concat(parts)
      const { head, tail, omitted, total } = ring.kept()
      expect(total).toBe(all.length)
      expect(head).toEqual(all.subarray(0, headSize))
      const rest = all.subarray(head.length)
      expect(tail).toEqual(rest.subarray(Math.max(0, rest.length - tailSize)))
      expect(omitted).toBe(all.length - head.length - tail.length)
    }),
  )
})

test('fences are found wherever the stream is cut, and everything else is kept byte by byte', () => {
  const nonce = '0123456789abcdef'
  const piece = fc.constantFrom(
    'text',
    '\x1b',
    '\x1b]7777;',
    '\x1b]7777;deadbeef\x07',
    '\x1b]7777;S',
    '\x07',
    '\x1b[31m',
    'é',
  )
  const prose = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(prose, prose, prose, fc.array(fc.nat(), { maxLength: 12 }), (before, inside, after, at) => {
      const stream = Buffer.from(`${before}\x1b]7777;S${nonce}\x07${inside}\x1b]7777;${nonce}\x07${after}`)
      let heard = ''
      let early: string | undefined
      const transcript = new Transcript(nonce, {
        started: ({ head, tail }) => (early = Buffer.concat([head, tail]).toString()),
        ended: () => true,
        output: (chunk) => (heard += chunk.toString('latin1')),
      })
      const rest = Buffer.concat(cut(stream, at).map((chunk) => transcript.push(chunk)))
      expect(early).toBe(before)
      expect(transcript.kept().head.toString()).toBe(inside)
      expect(Buffer.from(heard, 'latin1').toString()).toBe(inside)
      expect(rest.toString()).toBe(after)
    }),
  )
})

test('an end fence that is not believed stays text and does not end the output', () => {
  const transcript = new Transcript('abc', { started: () => undefined, ended: () => false, output: () => undefined })
  transcript.push(Buffer.from('\x1b]7777;Sabc\x07one\x1b]7777;abc\x07two'))
  expect(transcript.kept().head.toString()).toBe('one\x1b]7777;abc\x07two')
})

test.each([
  [
    'CSI, OSC, string and two-byte escapes',
    '\x1b[1;31mred\x1b[0m\x1b]0;t\x07\x1b]8;;x\x1b\\\x1bPq\x1b\\\x1b(B\x1b=!',
    'red!',
  ],
  ['CRLF and doubled CR', 'a\r\nb\r\r\nc', 'a\nb\nc'],
  ['a progress line', '10%\r20%\r\x1b[K100%\r\nend\n', '100%\nend\n'],
  ['a CR that ends the text', '50%\r', '50%'],
  ['NUL', 'a\0b', 'a\ufffdb'],
  ['overstrike of a manual page', 'N\bNA\bAM\bME\bE _\bx', 'NAME x'],
])('cleaning: %s', (_, raw, clean) => {
  expect(cleanText(raw)).toBe(clean)
})

test('cleaning is idempotent and leaves no escape that a terminal would act on', () => {
  const piece = fc.constantFrom(
    'a',
    '\n',
    '\r',
    '\r\n',
    '\x1b[31m',
    '\x1b[',
    '\x1b]',
    '\x07',
    '\b',
    '\0',
    '\x1b\\',
    'é',
    '%',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (parts) => {
      const once = cleanText(parts.join(''))
      expect(once).not.toContain('\0')
      expect(once).not.toContain('\r')
      // oxlint-disable-next-line no-control-regex -- the escape is the point
      expect(once).not.toMatch(/\x1b\[[0-9;]*m/)
    }),
  )
})

test('a dropped line leaves its neighbours whole', () => {
  const scrub = (line: string) => (line.includes('X') ? undefined : line)
  expect(cleanText('a\nX\nb\n', scrub)).toBe('a\nb\n')
  expect(cleanText('a\nX', scrub)).toBe('a\n')
  expect(cleanText('X', scrub)).toBe('')
})

test('the kept tail starts at a line, the head ends at a character, and both cuts are counted', () => {
  const ring = new Ring(4, 16)
  ring.push(Buffer.from('abcé'))
  ring.push(Buffer.from(`${'x'.repeat(50)}\x1b[31mred\nlast line\n`))
  expect(cleanKept(ring.kept())).toEqual({ text: 'abclast line\n', seam: 3, omitted: 50 + 1 + 5 + 4 })
})

test('binary is what is mostly neither text nor terminal control', () => {
  expect(looksBinary(Buffer.from('plain\ttext\r\n\x1b[31mred\x1b[0m 你好'))).toBe(false)
  expect(looksBinary(Buffer.alloc(100))).toBe(true)
  expect(looksBinary(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)))).toBe(true)
  expect(looksBinary(Buffer.alloc(0))).toBe(false)
})

test('live text, put together, is the cleaned whole, wherever it is cut', () => {
  const piece = fc.constantFrom('word ', '\r\n', '\x1b[31m', '10%\r', 'é', '你', '\x1b]0;title\x07')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(), { maxLength: 8 }), (parts, at) => {
      const raw = parts.join('')
      let shown = ''
      for (const chunk of [cut(Buffer.from(raw), at)]) {
        const live = new Live(
          (text) => (shown += text),
          (line) => line,
          '/hidden',
        )
        for (const bytes of chunk) live.push(bytes)
        live.end()
      }
      expect(shown).toBe(cleanText(raw))
    }),
  )
})

test('a shell environment holds names of the list only, and a PATH without our own tools', () => {
  const base = {
    PATH: '/app/node_modules/.bin:/node_modules/.bin:/x/@npmcli/run-script/lib/node-gyp-bin:/usr/bin::/bin',
    HOME: '/home/u',
    LC_ALL: 'C',
    DATABASE_URL: 'secret',
    SSH_AUTH_SOCK: '/s',
    npm_config_x: '1',
    NODE: '/app/node',
    INIT_CWD: '/app',
    EXTRA: 'yes',
  }
  expect(shellEnvironment(base, ['EXTRA'])).toEqual({
    PATH: '/usr/bin:/bin',
    HOME: '/home/u',
    LC_ALL: 'C',
    EXTRA: 'yes',
  })
  expect(shellEnvironment({}).PATH).toContain('/usr/bin')
})
