const PREFIX = 'core-web.scroll.'

/** Where a reader was: the row at the upper edge, and how many pixels of it were above. Rows keep their keys, offsets do not. */
export interface Place {
  key: string
  by: number
}

/** Where a session was read, for this tab; undefined: at its end. */
export function recallScroll(id: string): Place | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(PREFIX + id) ?? 'null') as Place | null) ?? undefined
  } catch {
    // No storage, or not ours: every session opens at its end.
    return undefined
  }
}

export function rememberScroll(id: string, place: Place | undefined): void {
  try {
    if (place === undefined) sessionStorage.removeItem(PREFIX + id)
    else sessionStorage.setItem(PREFIX + id, JSON.stringify(place))
  } catch {
    // No storage: the place is forgotten at a reload.
  }
}
