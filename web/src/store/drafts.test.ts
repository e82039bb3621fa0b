import { beforeEach, expect, test } from 'vitest'
import { readDraft, writeDraft } from './drafts.ts'

beforeEach(() => localStorage.clear())

test('B69 a draft is kept per session and survives a new page', () => {
  writeDraft('a', 'half a thought')
  writeDraft('b', 'another')
  expect(readDraft('a')).toBe('half a thought')
  expect(readDraft('b')).toBe('another')
  expect(readDraft('c')).toBe('')
})

test('an empty draft leaves nothing behind', () => {
  writeDraft('a', 'text')
  writeDraft('a', '')
  expect(localStorage.length).toBe(0)
})

test('a browser that refuses storage costs the copy, not the page', () => {
  const refusing = {
    getItem() {
      throw new Error('denied')
    },
    setItem() {
      throw new Error('full')
    },
  } as unknown as Storage
  expect(readDraft('a', refusing)).toBe('')
  expect(() => writeDraft('a', 'x', refusing)).not.toThrow()
})
