import { expect, test } from 'vitest'
import { translate } from '../i18n/i18n.ts'
import type { Key } from '../i18n/i18n.ts'
import { presetAbout, presetName } from './display.ts'

const en = (key: Key) => translate('en', key)
const zh = (key: Key) => translate('zh', key)

test('G-08 a built-in preset without a name of its own is translated, name and description', () => {
  const minimal = { id: 'minimal', description: 'as declared' }
  expect([presetName(minimal, en), presetName(minimal, zh)]).toEqual(['minimal', '精简'])
  expect(presetAbout(minimal, en)).toMatch(/persistent shell/)
  expect(presetAbout(minimal, zh)).not.toBe(presetAbout(minimal, en))
})

test('G-08 an author’s name keeps the author’s text, even on a built-in id; without a name the id stands', () => {
  expect(presetName({ id: 'minimal', name: 'Mine' }, zh)).toBe('Mine')
  expect(presetAbout({ id: 'minimal', name: 'Mine', description: 'my own' }, zh)).toBe('my own')
  expect([presetName({ id: 'review' }, en), presetAbout({ id: 'review' }, en)]).toEqual(['review', ''])
  expect(presetName({ id: 'constructor' }, en)).toBe('constructor')
})
