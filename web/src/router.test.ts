import fc from 'fast-check'
import { expect, test } from 'vitest'
import { format, parse, SETTINGS_PAGES, USAGE_DAYS, USAGE_UNITS } from './router.ts'
import type { Route } from './router.ts'

test('every place is found by its path', () => {
  expect(parse('/')).toEqual({ place: 'home' })
  expect(parse('/new')).toEqual({ place: 'new' })
  expect(parse('/new', '?workspace=w1')).toEqual({ place: 'new', workspace: 'w1' })
  expect(parse('/s/0199-a')).toEqual({ place: 'session', id: '0199-a' })
  expect(parse('/s/a/prompt')).toEqual({ place: 'session', id: 'a', prompt: {} })
  expect(parse('/s/a/prompt/2')).toEqual({ place: 'session', id: 'a', prompt: { turn: 2 } })
  expect(parse('/s/a/prompt/2/1', '?against=b.1.3')).toEqual({
    place: 'session',
    id: 'a',
    prompt: { turn: 2, step: 1, against: { session: 'b', turn: 1, step: 3 } },
  })
  expect(parse('/presets')).toEqual({ place: 'presets' })
  expect(parse('/presets/minimal')).toEqual({ place: 'presets', id: 'minimal' })
  expect(parse('/presets/minimal/edit')).toEqual({ place: 'presets', id: 'minimal', tab: 'edit' })
  expect(parse('/settings')).toEqual({ place: 'settings', page: 'models' })
  expect(parse('/settings/about')).toEqual({ place: 'settings', page: 'about' })
  expect(parse('/settings/models', '?provider=lab&model=a/b')).toEqual({
    place: 'settings',
    page: 'models',
    provider: 'lab',
    model: 'a/b',
  })
  expect(parse('/usage')).toEqual({ place: 'usage' })
  expect(parse('/usage', '?days=90&cwd=/w/tally&preset=minimal&unit=tokens')).toEqual({
    place: 'usage',
    days: 90,
    cwd: '/w/tally',
    preset: 'minimal',
    unit: 'tokens',
  })
  expect(parse('/usage', '?days=31&unit=euro&cwd=')).toEqual({ place: 'usage' })
})

test('what is not a place is said to be missing', () => {
  for (const path of [
    '/s',
    '/s/a/b',
    '/s/a/prompt/x',
    '/s/a/prompt/0/1',
    '/s/a/prompt/1/2/3',
    '/settings/nothing',
    '/usage/x',
    '/elsewhere',
    '/new/x',
  ])
    expect(parse(path)).toEqual({ place: 'missing', path })
})

test('a stray percent sign does not break the page', () => {
  expect(parse('/s/%E0%A4%A')).toEqual({ place: 'session', id: '%E0%A4%A' })
})

test('a path is read back as the route it was made from, below any base', () => {
  const name = fc.stringMatching(/^[^/\\\s?#%]{1,20}$/).filter((text) => text !== '.' && text !== '..')
  const count = fc.integer({ min: 1, max: 99_999 })
  const against = fc.record(
    { session: fc.stringMatching(/^[a-z0-9-]{1,20}$/), turn: count, step: count },
    { requiredKeys: ['turn', 'step'] },
  )
  const prompt = fc.oneof(
    fc.record({ against }, { requiredKeys: [] }),
    fc.record({ turn: count, step: count, against }, { requiredKeys: ['turn'] }),
  )
  const route = fc.oneof(
    fc.record({ place: fc.constant('session' as const), id: name, prompt }, { requiredKeys: ['place', 'id'] }),
    fc.record({ place: fc.constant('presets' as const), id: name }),
    fc.record({ place: fc.constant('new' as const), workspace: name }),
    fc.record(
      {
        place: fc.constant('settings' as const),
        page: fc.constantFrom(...SETTINGS_PAGES),
        provider: name,
        model: name,
      },
      { requiredKeys: ['place', 'page'] },
    ),
    fc.record(
      {
        place: fc.constant('usage' as const),
        days: fc.constantFrom(...USAGE_DAYS),
        cwd: fc.string({ minLength: 1, unit: 'binary' }),
        preset: name,
        unit: fc.constantFrom(...USAGE_UNITS),
      },
      { requiredKeys: ['place'] },
    ),
    fc.constant({ place: 'home' as const }),
  ) as fc.Arbitrary<Route>
  fc.assert(
    fc.property(route, fc.constantFrom('/', '/agents/', '/a/b/'), (wanted, base) => {
      const url = new URL(format(wanted, base), 'http://host')
      expect(parse(url.pathname, url.search, base)).toEqual(wanted)
    }),
  )
})
