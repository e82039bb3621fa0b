import { expect, test } from 'vitest'
import { Layers } from './layers.ts'
import { Listeners } from './listeners.ts'
import { Scopes } from './scope.ts'

const chainOfThree = () => {
  const scopes = new Scopes()
  const [top, middle, leaf] = [{ n: 'top' }, { n: 'middle' }, { n: 'leaf' }]
  scopes.bindParent(middle, top)
  scopes.bindParent(leaf, middle)
  return { scopes, top, middle, leaf }
}

test('P-01 a key has at most one parent, only its binding moves it, cycles throw', () => {
  const { scopes, top, middle, leaf } = chainOfThree()
  expect(scopes.chain(leaf)).toEqual([leaf, middle, top])
  expect(() => scopes.bindParent(leaf, top)).toThrow('already has a parent')
  expect(() => scopes.bindParent(top, leaf)).toThrow('ancestor')
  expect(() => scopes.bindParent(top, top)).toThrow('ancestor')
  const other = {}
  const binding = scopes.bindParent(other, leaf)
  binding.rebind(top)
  expect(scopes.parentOf(other)).toBe(top)
  expect(binding.parent).toBe(top)
  expect(() => binding.rebind(other)).toThrow('ancestor')
  expect(scopes.parentOf(other)).toBe(top)
  binding.release()
  binding.release()
  expect(() => binding.rebind(top)).toThrow('released')
  expect(scopes.parentOf(other)).toBeUndefined()
  expect(scopes.bindParent(other, middle).parent).toBe(middle)
})

test('P-02 a child sees its ancestors and the nearest name wins; a parent sees nothing of its child', () => {
  const { scopes, top, middle, leaf } = chainOfThree()
  const layers = new Layers<string>(scopes, 'thing')
  layers.add(null, 'a', 'global')
  layers.add(top, 'a', 'top')
  const undo = layers.add(middle, 'a', 'middle')
  layers.add(leaf, 'b', 'leaf')
  const seen = (scope: object | null) => [...layers.view(scope).named].map(([name, entry]) => [name, entry.value])
  expect(seen(leaf)).toEqual([
    ['b', 'leaf'],
    ['a', 'middle'],
  ])
  expect(layers.view(leaf).shadowed.map((entry) => entry.value)).toEqual(['top', 'global'])
  expect(seen(top)).toEqual([['a', 'top']])
  expect(seen(null)).toEqual([['a', 'global']])
  undo()
  expect(seen(leaf)).toContainEqual(['a', 'top'])
})

test('P-02 events go up: a listener hears its own scope and all below, an unscoped one hears all', () => {
  const { scopes, top, middle, leaf } = chainOfThree()
  const listeners = new Listeners<{ ping: { event: { n: number } } }>(scopes)
  const heard: string[] = []
  for (const [name, scope] of Object.entries({ top, middle, leaf, none: null }))
    listeners.on(scope, 'ping', () => void heard.push(name))
  listeners.emit('ping', middle, { n: 1 })
  expect(heard).toEqual(['top', 'middle', 'none'])
  heard.length = 0
  listeners.emit('ping', {}, { n: 1 })
  expect(heard).toEqual(['none'])
})

test('P-03 nameless contributions merge along the chain and are removed one by one', () => {
  const { scopes, top, leaf } = chainOfThree()
  const layers = new Layers<string>(scopes, 'thing')
  const first = layers.addAnonymous(null, 'same')
  layers.addAnonymous(top, 'same')
  layers.addAnonymous(leaf, 'leaf')
  expect(layers.view(leaf).anonymous).toEqual(['leaf', 'same', 'same'])
  first()
  first()
  expect(layers.view(leaf).anonymous).toEqual(['leaf', 'same'])
})

test('P-04 a duplicate in one layer throws and leaks nothing; a throwing observer rolls back', () => {
  const { scopes, leaf } = chainOfThree()
  const reported: unknown[] = []
  const layers = new Layers<string>(scopes, 'thing', (error) => reported.push(error))
  const dispose = layers.add(leaf, 'a', 'first')
  expect(() => layers.add(leaf, 'a', 'second')).toThrow('thing "a" is already registered')
  expect(layers.view(leaf).named.get('a')?.value).toBe('first')
  const sizes: number[] = []
  layers.observe(() => void sizes.push(layers.view(leaf).named.size))
  const stop = layers.observe(() => {
    throw new Error('veto')
  })
  expect(() => layers.add(leaf, 'b', 'b')).toThrow('veto')
  expect(() => layers.addAnonymous(leaf, 'c')).toThrow('veto')
  expect([...layers.view(leaf).named.keys()]).toEqual(['a'])
  expect(layers.view(leaf).anonymous).toEqual([])
  expect(sizes).toEqual([2, 1, 1, 1])
  dispose()
  expect(layers.view(leaf).named.size).toBe(0)
  expect(reported).toHaveLength(1)
  stop()
  layers.add(leaf, 'b', 'b')
  expect(layers.view(leaf).named.size).toBe(1)
})

type Chain = { step: { event: { trace: string[] }; result: string } }

test('a waterfall runs first registered outermost, prepended ones outside, and a listener may veto', async () => {
  const { scopes, leaf } = chainOfThree()
  const listeners = new Listeners<Chain>(scopes)
  const wrap = (name: string) => async (event: { trace: string[] }, next: () => Promise<string>) => {
    event.trace.push(`>${name}`)
    const value = await next()
    event.trace.push(`<${name}`)
    return value + name
  }
  listeners.on(null, 'step', wrap('a'))
  const undo = listeners.on(leaf, 'step', wrap('b'))
  listeners.on(null, 'step', wrap('o'), { prepend: true })
  const event = { trace: [] as string[] }
  expect(await listeners.waterfall('step', leaf, event, () => 'x')).toBe('xbao')
  expect(event.trace).toEqual(['>o', '>a', '>b', '<b', '<a', '<o'])
  undo()
  listeners.on(null, 'step', () => 'veto')
  expect(await listeners.waterfall('step', leaf, { trace: [] }, () => 'x')).toBe('vetoao')
})

test('a waterfall listener that calls next twice is an error, and a throw reaches the caller', async () => {
  const { scopes, leaf } = chainOfThree()
  const listeners = new Listeners<Chain>(scopes)
  const undo = listeners.on(null, 'step', async (_event, next) => (await next()) + (await next()))
  await expect(listeners.waterfall('step', leaf, { trace: [] }, () => 'x')).rejects.toThrow('twice')
  undo()
  listeners.on(null, 'step', () => {
    throw new Error('no')
  })
  await expect(listeners.waterfall('step', leaf, { trace: [] }, () => 'x')).rejects.toThrow('no')
})

test('serial stops at the first value; emit contains failures, also late ones', async () => {
  const { scopes, leaf } = chainOfThree()
  const reported: string[] = []
  const listeners = new Listeners<Chain>(scopes, (error) => reported.push((error as Error).message))
  const calls: string[] = []
  listeners.on(null, 'step', () => void calls.push('silent'))
  listeners.on(null, 'step', async () => 'answer')
  listeners.on(null, 'step', () => void calls.push('never'))
  expect(await listeners.serial('step', leaf, { trace: [] })).toBe('answer')
  expect(calls).toEqual(['silent'])
  listeners.on(null, 'step', () => {
    throw new Error('sync')
  })
  listeners.on(null, 'step', () => Promise.reject(new Error('late')))
  listeners.on(null, 'step', () => void calls.push('last'))
  listeners.emit('step', leaf, { trace: [] })
  await Promise.resolve()
  expect(calls).toEqual(['silent', 'silent', 'never', 'last'])
  expect(reported).toEqual(['sync', 'late'])
})
