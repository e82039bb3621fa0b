import { expect, test } from 'vitest'
import { byCodeUnit, Layers } from './layers.ts'
import { Listeners } from './listeners.ts'
import { Scopes } from './scope.ts'

type Hooks = { step: { event: { n: number }; result: string } }

test('P-01 a released binding has no parent and leaves a later binding of the same key alone', () => {
  const scopes = new Scopes()
  const [child, first, second] = [{}, {}, {}]
  const released = scopes.bindParent(child, first)
  released.release()
  expect(() => released.parent).toThrow('this scope binding was released')
  scopes.bindParent(child, second)
  released.release()
  expect(scopes.parentOf(child)).toBe(second)
})

test('P-03 P-04 a registration taken back twice leaves the next one of its name in place, and tells once', () => {
  const layers = new Layers<string>(new Scopes(), 'thing')
  const undo = layers.add(null, 'a', 'first')
  undo()
  layers.add(null, 'a', 'second')
  let told = 0
  layers.observe(() => void told++)
  undo()
  expect(layers.view(null).named.get('a')?.value).toBe('second')
  expect(told).toBe(0)
  expect(layers.view(null).shadowed).toEqual([])
})

test('P-04 after a veto those who were told before hear of the way back, the vetoer does not', () => {
  const layers = new Layers<string>(new Scopes(), 'thing')
  const heard: string[] = []
  layers.observe(() => void heard.push('one'))
  layers.observe(() => {
    heard.push('veto')
    throw new Error('no')
  })
  layers.observe(() => void heard.push('never'))
  expect(() => layers.add(null, 'a', 'x')).toThrow('no')
  expect(heard).toEqual(['one', 'veto', 'one'])
})

test('H-10 a change told without a registration reaches every observer, whatever one of them throws', () => {
  const reported: unknown[] = []
  const layers = new Layers<string>(new Scopes(), 'thing', (error) => reported.push(error))
  const heard: (object | null)[] = []
  layers.observe(() => {
    throw new Error('first')
  })
  layers.observe((scope) => void heard.push(scope))
  const scope = {}
  layers.changed(scope)
  expect(heard).toEqual([scope])
  expect(reported).toEqual([new Error('first')])
})

test('names are ordered by code unit', () => {
  expect([byCodeUnit('a', 'a'), byCodeUnit('Z', 'a'), byCodeUnit('a', 'Z')]).toEqual([0, -1, 1])
})

test('P-02 a question is asked of the listeners above its scope and of no others', async () => {
  const scopes = new Scopes()
  const [parent, child, stranger] = [{}, {}, {}]
  scopes.bindParent(child, parent)
  const listeners = new Listeners<Hooks>(scopes)
  expect(listeners.has('step')).toBe(false)
  expect(await listeners.waterfall('step', child, { n: 1 }, () => 'inner')).toBe('inner')
  expect(await listeners.serial('step', child, { n: 1 })).toBeUndefined()
  const undo = listeners.on(stranger, 'step', () => 'stranger')
  expect(listeners.has('step')).toBe(true)
  expect(await listeners.serial('step', child, { n: 1 })).toBeUndefined()
  listeners.on(parent, 'step', () => 'parent')
  expect(await listeners.serial('step', child, { n: 1 })).toBe('parent')
  expect(await listeners.serial('step', stranger, { n: 1 })).toBe('stranger')
  undo()
  expect(await listeners.serial('step', stranger, { n: 1 })).toBeUndefined()
})

test('an announcement nobody hears is no error, and outside of a waterfall there is no next', async () => {
  const scope = {}
  const reported: [string, string][] = []
  const listeners = new Listeners<Hooks>(new Scopes(), (error, hook) => reported.push([(error as Error).message, hook]))
  listeners.emit('step', scope, { n: 1 })
  listeners.on(null, 'step', (_event, next) => next())
  await expect(listeners.serial('step', scope, { n: 1 })).rejects.toThrow('this hook has no next')
  listeners.emit('step', scope, { n: 1 })
  await Promise.resolve()
  expect(reported).toEqual([['this hook has no next', 'step']])
})
