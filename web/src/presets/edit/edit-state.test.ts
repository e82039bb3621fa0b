import { beforeEach, expect, test } from 'vitest'
import type { PresetSource } from '../../../../server/wire/presets.ts'
import { readPresetDraft } from './draft.ts'
import { inConflict, isDirty, openEdit } from './edit-state.ts'

const source = (text: string): PresetSource => ({
  preset: 'lab',
  own: true,
  file: '/data/presets/lab.yml',
  text,
  digest: `digest of ${text}`,
  versions: [],
})

beforeEach(() => localStorage.clear())

test('a draft survives the page and goes when it is activated', () => {
  const edit = openEdit(source('a'))
  edit.change('b')
  expect(edit.keep()).toBe(true)
  const again = openEdit(source('a'))
  expect(again.use.getState().text).toBe('b')
  expect(inConflict(again.use.getState())).toBe(false)
  again.saved('b', 'digest of b')
  expect(isDirty(again.use.getState())).toBe(false)
  expect(again.keep()).toBe(false)
  expect(readPresetDraft('lab')).toBeUndefined()
})

test('a clean editor follows the file, an edited one is in conflict until one of the texts is chosen', () => {
  const edit = openEdit(source('a'))
  edit.follow(source('b'))
  expect(edit.use.getState().text).toBe('b')
  edit.change('mine')
  edit.follow(source('c'))
  expect(edit.use.getState().text).toBe('mine')
  expect(inConflict(edit.use.getState())).toBe(true)
  edit.keepMine()
  expect(inConflict(edit.use.getState())).toBe(false)
  expect(edit.use.getState().base).toBe('digest of c')
  edit.follow(source('d'))
  edit.takeTheirs()
  expect(edit.use.getState().text).toBe('d')
  expect(isDirty(edit.use.getState())).toBe(false)
})

test('a draft of a document that has changed since opens in conflict', () => {
  const edit = openEdit(source('a'))
  edit.change('mine')
  edit.keep()
  const again = openEdit(source('b'))
  expect(again.use.getState().text).toBe('mine')
  expect(inConflict(again.use.getState())).toBe(true)
})

test('an answer from before the save is late, not a conflict, and what was typed meanwhile stays', () => {
  const edit = openEdit(source('a'))
  edit.change('b')
  edit.saved('b', 'digest of b')
  edit.follow(source('a'))
  expect(edit.use.getState().text).toBe('b')
  edit.change('bc')
  edit.follow(source('a'))
  expect(inConflict(edit.use.getState())).toBe(false)
  edit.follow(source('b'))
  expect(edit.use.getState().text).toBe('bc')
  expect(inConflict(edit.use.getState())).toBe(false)
})
