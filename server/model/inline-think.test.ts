import { expect, test } from 'vitest'
import { ThinkSplitter } from './inline-think.ts'

function split(chunks: readonly string[]): { reasoning: string; text: string } {
  const splitter = new ThinkSplitter()
  const pieces = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.flush()]
  const join = (kind: string) =>
    pieces
      .filter((piece) => piece.kind === kind)
      .map((piece) => piece.s)
      .join('')
  return { reasoning: join('reasoning'), text: join('text') }
}

test('LT-23 the tags may be cut at every offset', () => {
  const answer = '\n<think>a < b </thin and </think>\n\nThe <think>answer</think>.'
  const expected = { reasoning: 'a < b </thin and ', text: 'The <think>answer</think>.' }
  expect(split([...answer])).toEqual(expected)
  for (let cut = 0; cut <= answer.length; cut++)
    expect(split([answer.slice(0, cut), answer.slice(cut)])).toEqual(expected)
})

test('LT-23 an answer without the tag passes byte for byte, an unclosed one stays reasoning', () => {
  for (const plain of ['  indented', '<thin', '<p>', 'x <think>y</think>', '', ' '])
    expect(split([...plain])).toEqual({ reasoning: '', text: plain })
  expect(split(['<think>never closed </th'])).toEqual({ reasoning: 'never closed </th', text: '' })
})
