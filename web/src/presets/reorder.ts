interface Ordered {
  id: string
  order?: number
}

export interface NewOrder {
  preset: string
  order: number
}

/**
 * The orders to set so that `id` stands at `to` among `list` (as shown, smallest order first, none last). A place between
 * two different orders costs one change; where there is none, everything up to there is numbered anew.
 */
export function reorder(list: readonly Ordered[], id: string, to: number): NewOrder[] {
  const from = list.findIndex((item) => item.id === id)
  const moved = list[from]
  const place = Math.max(0, Math.min(to, list.length - 1))
  if (!moved || place === from) return []
  const rest = list.filter((item) => item.id !== id)
  const order = between(rest[place - 1], rest[place])
  if (order !== undefined) return [{ preset: id, order }]
  const next = rest.toSpliced(place, 0, moved)
  const changes: NewOrder[] = []
  let last = Number.NEGATIVE_INFINITY
  next.forEach((item, index) => {
    const settled = index > place && item.order !== undefined && item.order > last
    const wanted = settled ? item.order! : Number.isFinite(last) ? Math.floor(last) + 1 : first(next)
    last = wanted
    if (wanted !== item.order && (index <= place || item.order !== undefined))
      changes.push({ preset: item.id, order: wanted })
  })
  return changes
}

const first = (list: readonly Ordered[]): number => Math.min(100, ...list.flatMap(({ order }) => order ?? []))

function between(before: Ordered | undefined, after: Ordered | undefined): number | undefined {
  if (!before) return after?.order === undefined ? undefined : Math.ceil(after.order) - 1
  if (before.order === undefined) return undefined
  if (after?.order === undefined) return Math.floor(before.order) + 1
  const middle = (before.order + after.order) / 2
  return before.order < middle && middle < after.order ? middle : undefined
}
