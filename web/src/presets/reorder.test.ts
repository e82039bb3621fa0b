import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freeId, idProblem } from './ids.ts'
import { reorder } from './reorder.ts'

interface Item {
  id: string
  order?: number
}

const sorted = (list: readonly Item[]): Item[] =>
  list.toSorted((a, b) => {
    const [x, y] = [a.order ?? Infinity, b.order ?? Infinity]
    return x === y ? (a.id < b.id ? -1 : 1) : x - y
  })

test('a preset moved in the list stands there after the changes, and the others keep their sequence', () => {
  const orders = fc.option(fc.integer({ min: -3, max: 5 }), { nil: undefined })
  fc.assert(
    fc.property(fc.array(orders, { minLength: 1, maxLength: 7 }), fc.nat(), fc.nat(), (given, a, b) => {
      const list = sorted(given.map((order, index) => ({ id: `p${index}`, ...(order !== undefined && { order }) })))
      const id = list[a % list.length]!.id
      const to = b % list.length
      const orderOf = new Map(reorder(list, id, to).map((change) => [change.preset, change.order]))
      const after = sorted(
        list.map((item) => (orderOf.has(item.id) ? { ...item, order: orderOf.get(item.id)! } : item)),
      )
      const rest = list.filter((item) => item.id !== id).map((item) => item.id)
      expect(after.map((item) => item.id)).toEqual(rest.toSpliced(to, 0, id))
    }),
    { numRuns: 2000 },
  )
})

test('a move between two different orders changes one document', () => {
  const list = [
    { id: 'a', order: 1 },
    { id: 'b', order: 2 },
    { id: 'c', order: 9 },
  ]
  expect(reorder(list, 'c', 1)).toEqual([{ preset: 'c', order: 1.5 }])
  expect(reorder(list, 'a', 0)).toEqual([])
})

test('an id for a copy is free and usable, whatever it is a copy of', () => {
  const taken = [{ id: 'minimal' }, { id: 'minimal-copy' }]
  expect(freeId('minimal', taken)).toBe('minimal-copy-2')
  fc.assert(fc.property(fc.string(), (from) => idProblem(freeId(from, taken), taken) === undefined))
  expect([idProblem('', taken), idProblem('My One', taken), idProblem('minimal', taken)]).toEqual([
    'presets.id.none',
    'presets.id.form',
    'presets.id.taken',
  ])
})
