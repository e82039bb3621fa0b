import { cleanup, render } from '@testing-library/react'
import fc from 'fast-check'
import { marked } from 'marked'
import { Tooltip } from 'radix-ui'
import { afterEach, expect, test } from 'vitest'
import { Markdown, safe } from './markdown.tsx'
import { settle, unsettled } from './settle.ts'

afterEach(cleanup)
// A code block has a button with a tooltip.
const html = (text: string) => render(<Markdown text={text} />, { wrapper: Tooltip.Provider }).container

test('paragraphs, emphasis, code, lists and tables become elements', () => {
  const page = html('# Title\n\nA **bold** `code` word.\n\n1. one\n2. two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n')
  expect(page.querySelector('h1')?.textContent).toBe('Title')
  expect(page.querySelector('strong')?.textContent).toBe('bold')
  expect(page.querySelector('p > code')?.textContent).toBe('code')
  expect(page.querySelectorAll('ol > li')).toHaveLength(2)
  expect(page.querySelectorAll('td')[1]?.style.textAlign).toBe('right')
})

test('HTML in model text stays text', () => {
  const page = html('before <b onclick="x()">bold</b>\n\n<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>')
  expect(page.querySelector('script, b, img, [onclick]')).toBeNull()
  expect(page.textContent).toContain('<script>alert(1)</script>')
  expect(page.textContent).toContain('<b onclick="x()">')
})

test('an image is a link that nothing fetches', () => {
  const page = html('![chart](https://host/pixel.png)')
  expect(page.querySelector('img')).toBeNull()
  const link = page.querySelector('a')
  expect(link?.textContent).toBe('chart')
  expect(link?.rel).toContain('noreferrer')
})

test('only web and mail addresses become links', () => {
  const page = html('[a](javascript:alert(1)) [b](data:text/html,x) [c](https://ok.example) [d](file:///etc/passwd)')
  expect(Array.from(page.querySelectorAll('a'), (link) => link.textContent)).toEqual(['c'])
  expect(safe(' JaVaScRiPt:x')).toBe(false)
  expect(safe('mailto:a@b.c')).toBe(true)
})

test('whatever the text, no element that fetches or runs is made', { timeout: 20_000 }, () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '![',
    '](',
    ')',
    'http://x',
    '`',
    '\n',
    '\n\n',
    '<img src=x>',
    '<script>',
    '*',
    '_',
    'a',
    '|',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const page = html(pieces.join(''))
      const found = page.querySelector('img, script, iframe, object, style, link, video, audio, svg image')
      cleanup()
      expect(found).toBeNull()
    }),
    { numRuns: 60 },
  )
})

test('an unfinished mark does not flicker as raw text while it streams', () => {
  const page = render(<Markdown text="This is **bol" grows />).container
  expect(page.querySelector('strong')?.textContent).toBe('bol')
  expect(page.textContent).not.toContain('**')
})

test('settled blocks keep their identity while the rest grows, and nothing is lost', () => {
  const full = 'First para.\n\n- a\n- b\n\nThird **para** here.\n\n```js\nlet x = 1\n\nlet y = 2\n```\n\nEnd.'
  const into = unsettled()
  let first: unknown
  for (let end = 1; end <= full.length; end++) {
    const tail = settle(into, full.slice(0, end))
    expect(
      into.chunks
        .flat()
        .map((token) => token.raw)
        .join('') + tail,
    ).toBe(full.slice(0, end))
    first ??= into.chunks[0]?.[0]
  }
  expect(into.chunks[0]?.[0]).toBe(first)
  const types = (tokens: { type: string }[]) => tokens.map((token) => token.type).filter((type) => type !== 'space')
  const rest = marked.lexer(full.slice(into.length))
  expect([...types(into.chunks.flat()), ...types(rest)]).toEqual(types(marked.lexer(full)))
})
