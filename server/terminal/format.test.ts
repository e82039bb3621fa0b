import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatBashResult } from './format.ts'
import type { CallResult } from './result.ts'

const result = (part: Partial<CallResult>): CallResult => ({
  end: { kind: 'completed', exitCode: 0 },
  output: '',
  omitted: 0,
  totalBytes: 0,
  timeoutMs: 300_000,
  notices: [],
  ms: 1,
  ...part,
})

test.each<[string, Partial<CallResult>, string, boolean]>([
  ['plain output', { output: 'a\nb\n' }, 'a\nb', false],
  ['no output', {}, '[no output]', false],
  ['a status', { output: 'a\n', end: { kind: 'completed', exitCode: 2 } }, 'a\n[exit code: 2]', false],
  [
    'a dead shell',
    { end: { kind: 'exited', exitCode: 3 } },
    '[shell exited: code 3]\nThe next call starts a fresh shell.',
    false,
  ],
  [
    'a killed shell',
    { end: { kind: 'exited', signal: 'SIGTERM' } },
    '[shell killed by signal: SIGTERM]\nThe next call starts a fresh shell.',
    true,
  ],
  [
    'a shell gone without a word',
    { end: { kind: 'exited' } },
    '[shell exited]\nThe next call starts a fresh shell.',
    false,
  ],
  ['binary', { output: '\ufffd', binary: true, totalBytes: 20_000 }, '[binary output, 20000 bytes]', false],
])('O-24 text of %s', (_, part, text, isError) => {
  expect(formatBashResult(result(part))).toEqual({ text, isError })
})

test.each(['timeout', 'cancelled', 'needs-input'] as const)('O-24 %s says whether the shell was kept', (kind) => {
  const kept = formatBashResult(result({ end: { kind, stateKept: true } }))
  const lost = formatBashResult(result({ end: { kind, stateKept: false } }))
  expect(kept.text).toContain('The shell was kept')
  expect(kept.text).not.toContain('fresh shell')
  expect(lost.text).toContain('The next call starts a fresh shell.')
  expect([kept.isError, lost.isError]).toEqual([true, true])
})

test('O-15 the new-shell line is the first, whatever else is to be said', () => {
  const { text } = formatBashResult(
    result({
      output: 'out\n',
      notices: [
        { kind: 'between', text: 'late\n' },
        { kind: 'replaced', why: 'it had a reason' },
        { kind: 'new-shell', reason: 'death', directory: '/w' },
      ],
    }),
  )
  expect(text.split('\n')[0]).toBe('[new shell: death; directory /w, variables and jobs are gone]')
  expect(text).toMatch(/late\n\[end of background output\]\nout$/)
})

test('O-24 a long output keeps head and tail and names what is missing', () => {
  const { text } = formatBashResult(result({ output: `first${'x'.repeat(50_000)}last` }))
  expect(text).toMatch(/^first/)
  expect(text).toMatch(/last$/)
  expect(text).toContain('[34009 characters omitted]')
  expect(text.length).toBeLessThan(16_100)
  const bytes = formatBashResult(result({ output: 'headtail', seam: 4, omitted: 1000 }), 100)
  expect(bytes.text).toBe('head\n\n[1000 bytes omitted]\n\ntail')
})

test('O-24 a cut never splits a character and counts every one that is missing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 1, max: 60 }), (word, most) => {
      const output = `<${word}>`
      const { text } = formatBashResult(result({ output }), most)
      expect(text.isWellFormed()).toBe(true)
      const omitted = /\[(\d+) characters omitted\]/.exec(text)
      if (output.length <= most) expect(omitted).toBeNull()
      else expect(Number(omitted?.[1])).toBeGreaterThanOrEqual(output.length - most)
    }),
  )
})
