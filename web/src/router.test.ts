import fc from 'fast-check'
import { expect, test } from 'vitest'
import { format, parse } from './router.ts'
import type { Route } from './router.ts'

test('every place is found by its path', () => {
  expect(parse('/')).toEqual({ place: 'home' })
  expect(parse('/new')).toEqual({ place: 'new' })
  expect(parse('/new', '?workspace=w1')).toEqual({ place: 'new', workspace: 'w1' })
  expect(parse('/s/0199-a')).toEqual({ place: 'session', id: '0199-a' })
  expect(parse('/presets')).toEqual({ place: 'presets' })
  expect(parse('/presets/minimal')).toEqual({ place: 'presets', id: 'minimal' })
  expect(parse('/settings')).toEqual({ place: 'settings', page: 'models' })
  expect(parse('/settings/about')).toEqual({ place: 'settings', page: 'about' })
})

test('what is not a place is said to be missing', () => {
  for (const path of ['/s', '/s/a/b', '/settings/nothing', '/elsewhere', '/new/x'])
    expect(parse(path)).toEqual({ place: 'missing', path })
})

test('a stray percent sign does not break the page', () => {
  expect(parse('/s/%E0%A4%A')).toEqual({ place: 'session', id: '%E0%A4%A' })
})

test('a path is read back as the route it was made from, below any base', () => {
  const name = fc.stringMatching(/^[^/\\\s?#%]{1,20}$/).filter((text) => text !== '.' && text !== '..')
  const route = fc.oneof(
    fc.record({ place: fc.constant('session' as const), id: name }),
    fc.record({ place: fc.constant('presets' as const), id: name }),
    fc.record({ place: fc.constant('new' as const), workspace: name }),
    fc.record({ place: fc.constant('settings' as const), page: fc.constantFrom('models', 'appearance', 'about') }),
    fc.constant({ place: 'home' as const }),
  ) as fc.Arbitrary<Route>
  fc.assert(
    fc.property(route, fc.constantFrom('/', '/agents/', '/a/b/'), (wanted, base) => {
      const url = new URL(format(wanted, base), 'http://host')
      expect(parse(url.pathname, url.search, base)).toEqual(wanted)
    }),
  )
})
