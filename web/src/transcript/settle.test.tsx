import { act, cleanup, render } from '@testing-library/react'
import fc from 'fast-check'
import { marked } from 'marked'
import { afterEach, expect, test, vi } from 'vitest'
import { Markdown } from './markdown.tsx'
import { begin, remember, reveal, settle, sizeOf, SLICE, take, unsettled } from './settle.ts'
import type { Settled } from './settle.ts'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const PARAGRAPH = 'One sentence of a plain paragraph that goes on for a while, as they do. '.repeat(4).trim()
const long = (paragraphs: number) =>
  Array.from({ length: paragraphs }, (_, index) => `${index}: ${PARAGRAPH}`).join('\n\n')
const raws = (settled: Settled) => settled.chunks.flat().map((token) => token.raw)
const shown = ({ chunks, hidden: [from, to] }: Settled) => chunks.filter((_, index) => index < from || index >= to)

/** The frames of the page, run by hand. */
function frames(): () => void {
  let waiting: (() => void)[] = []
  vi.stubGlobal('requestAnimationFrame', (call: () => void) => waiting.push(call))
  return () => {
    const calls = waiting
    waiting = []
    for (const call of calls) call()
  }
}

test('a text that grows in pieces settles to what the whole text is', () => {
  const piece = fc.constantFrom(
    'Word. ',
    '\n',
    '\n\n',
    '# ',
    '- a',
    '- ',
    '1. one',
    '2. two',
    '```\n',
    '> ',
    '    ',
    '**b**',
    '| a | b |\n|---|---|\n| 1 | 2 |\n',
  )
  const types = (tokens: { type: string }[]) => tokens.map(({ type }) => type).filter((type) => type !== 'space')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const full = pieces.join('')
      const into = unsettled()
      for (let n = 1; n <= pieces.length; n++) settle(into, pieces.slice(0, n).join(''))
      const tail = full.slice(into.length)
      expect(raws(into).join('') + tail).toBe(full)
      expect([...types(into.chunks.flat()), ...types(marked.lexer(tail))]).toEqual(types(marked.lexer(full)))
    }),
    { numRuns: 300 },
  )
})

test('a paragraph without an end is cut between words, and only its rest stays open', () => {
  const text = 'These words belong to a paragraph that never ends. '.repeat(2000)
  const into = unsettled()
  let tail = ''
  for (let end = 50; end <= text.length; end += 50) {
    tail = take(into, text.slice(0, end), true)
    expect(tail.length).toBeLessThan(2 * SLICE)
  }
  expect(raws(into).join('') + tail).toBe(text)
  for (const raw of raws(into)) expect(raw).toMatch(/\. ?$/)
})

test('no character is cut in two', () => {
  const into = unsettled()
  const text = `x${'😀'.repeat(10_000)}`
  settle(into, text)
  expect(into.chunks.length).toBeGreaterThan(1)
  for (const raw of raws(into)) expect(raw.isWellFormed()).toBe(true)
})

test('a burst is taken in slice by slice', () => {
  const text = long(300)
  const into = unsettled()
  let count = 0
  for (; into.text !== text; count++) {
    const before = into.text.length
    take(into, text, true)
    expect(into.text.length - before).toBeLessThanOrEqual(SLICE)
  }
  expect(count).toBe(Math.ceil(text.length / SLICE))
})

test('a text that was sent anew replaces the one before it', () => {
  const into = unsettled()
  take(into, long(9), true)
  expect(take(into, 'Other', true)).toBe('Other')
  expect(into.chunks).toEqual([])
})

test('a reference is resolved when the text that holds its address has ended', () => {
  const page = render(<Markdown text={'See [the page][1].\n\nMore.\n\n[1]: https://host.example/a'} />).container
  expect(page.querySelector('a')?.href).toBe('https://host.example/a')
})

test('a long text begins with both ends and is revealed without a gap', () => {
  const settled = begin(undefined, long(300))
  let before = shown(settled)
  expect(before[0]).toBe(settled.chunks[0])
  expect(before.reduce((size, chunk) => size + sizeOf(chunk), 0)).toBeLessThan(3 * SLICE)
  while (settled.hidden[1] > 0) {
    reveal(settled)
    const now = shown(settled)
    expect(now.length).toBeGreaterThan(before.length)
    before = now
  }
  expect(before).toEqual(settled.chunks)
})

test('a long text that comes back is not lexed again', () => {
  const text = long(100)
  const first = begin('again', text)
  remember('again', first)
  const second = begin('again', text)
  expect(second.chunks[0]).toBe(first.chunks[0])
  expect(begin('again', `Not ${text}`).chunks[0]).not.toBe(first.chunks[0])
})

test('B85 the logged text keeps the elements of the streamed one', () => {
  const frame = frames()
  const text = long(120)
  const { container, rerender } = render(<Markdown text={text.slice(0, 100)} grows />)
  rerender(<Markdown text={text} grows />)
  for (let n = 0; n < 3; n++) act(frame)
  const first = container.querySelector('.chunk')
  rerender(<Markdown text={text} />)
  for (let n = 0; n < 10; n++) act(frame)
  expect(container.querySelector('.chunk')).toBe(first)
  expect(container.querySelector('.tail')).toBeNull()
  expect(Array.from(container.querySelectorAll('p'), (p) => p.textContent).join('\n\n')).toBe(text)
})
