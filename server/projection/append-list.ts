/**
 * A list that older states may share with newer ones: `push` writes behind the old length into the same array, so a fold
 * over n events costs O(n) in all. An older list never sees the new item, because it reads only up to its own length.
 */
export interface AppendList<T> {
  readonly items: readonly T[]
  readonly length: number
}

export const emptyList = <T>(): AppendList<T> => ({ items: [], length: 0 })

export const listOf = <T>(items: readonly T[]): AppendList<T> => ({ items: [...items], length: items.length })

export function push<T>(list: AppendList<T>, item: T): AppendList<T> {
  // A second push onto the same old list finds the slot taken and continues on a copy of its own.
  const items = list.items.length === list.length ? (list.items as T[]) : list.items.slice(0, list.length)
  items.push(item)
  return { items, length: list.length + 1 }
}

export function* each<T>(list: AppendList<T>): Generator<T> {
  for (let index = 0; index < list.length; index++) yield list.items[index] as T
}

export const toArray = <T>(list: AppendList<T>): T[] => list.items.slice(0, list.length)
