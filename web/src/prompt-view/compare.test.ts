import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestView, SectionView } from '../../../server/wire/presets.ts'
import { promptHunk } from '../new-session/prompt-diff.ts'
import { blocksOf, signature } from './blocks.ts'
import { compare } from './compare.ts'

const section = (name: string, text: string, more: Partial<SectionView> = {}): SectionView => ({
  name,
  text,
  order: 0,
  scope: 'preset',
  fate: 'shown',
  ...more,
})

const request = (sections: SectionView[], more: Partial<RequestView> = {}): RequestView => ({
  session: 's',
  turn: 1,
  step: 1,
  time: 0,
  digest: 'd',
  selection: { provider: 'p', model: 'm' },
  system: sections
    .filter(({ fate }) => fate === 'shown')
    .map(({ text }) => text)
    .join('\n\n'),
  sections,
  contexts: [],
  tools: [],
  origins: true,
  ...more,
})

test('the sent blocks and what separates them are the whole system text', () => {
  const text = fc.stringMatching(/^[a-c\n]{0,12}$/)
  fc.assert(
    fc.property(fc.array(text, { maxLength: 5 }), fc.array(text, { maxLength: 5 }), (sent, recorded) => {
      const system = sent.join('\n\n')
      const blocks = blocksOf({ system, sections: recorded.map((each, index) => section(`s${index}`, each)) })
      const letters = (value: string) => value.replaceAll('\n', '')
      expect(letters(blocks.map((block) => block.text).join(''))).toBe(letters(system))
    }),
  )
})

test('a section that was not sent stands in its place, apart from the sent ones', () => {
  const blocks = blocksOf(
    request([
      section('a', 'one', { order: 1 }),
      section('c', 'three', { order: 3 }),
      section('b', 'two', { order: 2, fate: 'shadowed' }),
    ]),
  )
  expect(blocks.map(({ text, sent }) => [text, sent])).toEqual([
    ['one', true],
    ['two', false],
    ['three', true],
  ])
})

test('a request without recorded origins is one block of its exact text', () => {
  const blocks = blocksOf({ system: 'exact\n\ntext', sections: [] })
  expect(blocks).toEqual([{ key: 'at0', text: 'exact\n\ntext', sent: true }])
})

test('sections are compared by name: changed, added and gone ones carry their lines', () => {
  const before = request([
    section('a', 'one\ntwo'),
    section('gone', 'old', { order: 1 }),
    section('z', 'end', { order: 9 }),
  ])
  const now = request([
    section('a', 'one\n2'),
    section('new', 'fresh', { order: 5 }),
    section('z', 'end', { order: 9 }),
  ])
  const { blocks, added, removed, sameUpTo } = compare(before, now)
  expect(blocks.map((block) => [block.section?.name, block.hunk?.lines])).toEqual([
    ['a', [' one', '-two', '+2']],
    ['gone', ['-old']],
    ['new', ['+fresh']],
    ['z', undefined],
  ])
  expect({ added, removed, sameUpTo }).toEqual({ added: 2, removed: 2, sameUpTo: 1 })
})

test('where one side has no origins the whole texts are compared', () => {
  const { blocks } = compare(request([], { system: 'a\nb', origins: false }), request([section('x', 'a\nc')]))
  expect(blocks).toHaveLength(1)
  expect(blocks[0]?.hunk?.lines).toEqual([' a', '-b', '+c'])
})

test('tools and contexts that differ are named with what became of them', () => {
  const tool = (name: string, description: string) => ({ name, description, parameters: {} })
  const context = (name: string, fate: 'kept' | 'suppressed') => ({ name, order: 0, scope: 'global' as const, fate })
  const { tools, contexts } = compare(
    request([], { tools: [tool('a', '1'), tool('b', '1'), tool('c', '1')], contexts: [context('x', 'kept')] }),
    request([], { tools: [tool('a', '1'), tool('b', '2'), tool('d', '1')], contexts: [context('x', 'suppressed')] }),
  )
  expect(tools.map(({ name, kind }) => [name, kind])).toEqual([
    ['b', 'changed'],
    ['d', 'added'],
    ['c', 'removed'],
  ])
  expect(contexts).toEqual([{ name: 'x', before: 'kept', after: 'suppressed' }])
})

test('a line diff gives back both texts, whatever they share', () => {
  const text = fc.stringMatching(/^[ab\n]{0,20}$/)
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { lines } = promptHunk(before, after)
      const side = (sign: string) =>
        lines
          .filter((line) => line.startsWith(' ') || line.startsWith(sign))
          .map((line) => line.slice(1))
          .join('\n')
      expect(side('-')).toBe(before)
      expect(side('+')).toBe(after)
    }),
  )
})

test('the parameters of a tool fit in one line', () => {
  const parameters = {
    type: 'object',
    properties: { command: { type: 'string' }, mode: { enum: ['a', 'b'] }, n: { anyOf: [{ type: 'number' }, {}] } },
    required: ['command'],
  }
  expect(signature(parameters)).toBe('command: string, mode?: a | b, n?: number | any')
})
