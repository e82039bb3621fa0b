import { expect, test } from 'vitest'
import { withOverride } from './patch-file.ts'

const TEXT = `# my settings
- id: providers
  config:
    # what I changed
    routes:
      # the box under the desk
      mine:
        label: "Mine" # a name
        baseURL: !!js env.BOX_URL
        options: {firstByteMs: 5, idleMs: 7} # short
      other:
        wire: chat # keep
- id: hooks
  disabled: !!js process.platform === 'nowhere'
`
const MINE = { label: 'Mine', baseURL: { __jsExpr: 'env.BOX_URL' }, options: { firstByteMs: 5, idleMs: 7 } }
const routes = (mine: object, others: object = { other: { wire: 'chat' } }) => ({ routes: { mine, ...others } })

test('a save of the same values changes no byte', () => {
  expect(withOverride(TEXT, 'providers', routes(MINE))).toBe(TEXT)
})

test('comments, quotes and expressions survive at every depth, beside what changed', () => {
  const next = { ...MINE, label: 'Yours', options: { firstByteMs: 6, idleMs: 7 } }
  expect(withOverride(TEXT, 'providers', routes(next))).toBe(
    TEXT.replace('"Mine"', '"Yours"').replace('firstByteMs: 5', 'firstByteMs: 6'),
  )
})

test('an entry is added and taken out without touching the others', () => {
  const added = withOverride(TEXT, 'providers', routes(MINE, { other: { wire: 'chat' }, third: { wire: 'gemini' } }))
  expect(added).toBe(TEXT.replace('# keep\n', '# keep\n      third:\n        wire: gemini\n'))
  expect(withOverride(TEXT, 'providers', routes(MINE, {}))).toBe(
    TEXT.replace('      other:\n        wire: chat # keep\n', ''),
  )
})

test('a value takes the place of an expression, and an expression that of a value', () => {
  const plain = withOverride(TEXT, 'providers', routes({ ...MINE, baseURL: 'http://127.0.0.1:1/v1' }))
  expect(plain).toContain('baseURL: http://127.0.0.1:1/v1\n')
  expect(withOverride(plain, 'providers', routes(MINE))).toContain('baseURL: !!js env.BOX_URL\n')
})

test('of several overrides of one row the last one, which is in force, is edited', () => {
  const twice = '- {id: a, config: {x: 1}}\n- {id: a, config: {x: 2}}\n- {id: a, disabled: false}\n'
  expect(withOverride(twice, 'a', { x: 3 })).toBe(twice.replace('x: 2', 'x: 3'))
})
