const KEY = 'core-web.scroll.'

/** Offset in pixels at which a session was read, for this tab; undefined: at its end. */
export function recallScroll(id: string): number | undefined {
  try {
    const text = sessionStorage.getItem(KEY + id)
    return text === null ? undefined : Number(text)
  } catch {
    // No storage: every session opens at its end.
    return undefined
  }
}

export function rememberScroll(id: string, offset: number | undefined): void {
  try {
    if (offset === undefined) sessionStorage.removeItem(KEY + id)
    else sessionStorage.setItem(KEY + id, String(Math.round(offset)))
  } catch {
    // No storage: the place is forgotten at a reload.
  }
}
