/** Cuts at most `limit` UTF-16 units, never inside a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit)
}

export const numbered = (line: number, text: string): string => `${String(line).padStart(6)}  ${text}`

export interface LineWindow {
  /** Numbered rows. */
  text: string
  /** Lines of the LF split: a final newline adds an empty last one. */
  total: number
  /** Number of the last row in `text`, 0 when there is none. */
  last: number
  /** The budget ran out within the range; `partial` when the last row itself is cut. */
  cut: boolean
  partial: boolean
  crlf: number
  lf: number
}

/**
 * Keeps the numbered lines `from..to` of a stream within `budget` characters and only counts the rest, so that two
 * lines out of a huge file cost two lines.
 */
export class LineCollector {
  readonly #from: number
  readonly #to: number
  readonly #budget: number
  #rows: string[] = []
  #used = 0
  #open = false
  #afterCr = false
  #window: LineWindow = { text: '', total: 1, last: 0, cut: false, partial: false, crlf: 0, lf: 0 }

  constructor(range: { from: number; to: number; budget: number }) {
    this.#from = range.from
    this.#to = range.to
    this.#budget = range.budget
  }

  push(piece: string): void {
    const window = this.#window
    for (let at = 0; ;) {
      const lf = piece.indexOf('\n', at)
      if (window.total >= this.#from && window.total <= this.#to) this.#keep(piece.slice(at, lf < 0 ? undefined : lf))
      if (lf < 0) break
      const crlf = lf > 0 ? piece.charCodeAt(lf - 1) === 13 : this.#afterCr
      if (crlf) window.crlf++
      else window.lf++
      window.total++
      this.#open = false
      at = lf + 1
    }
    if (piece !== '') this.#afterCr = piece.charCodeAt(piece.length - 1) === 13
  }

  #keep(text: string): void {
    const window = this.#window
    if (window.cut) return
    const row = this.#open ? text : numbered(window.total, text)
    const room = this.#budget - this.#used - (this.#open ? 0 : 1)
    if (row.length > room) {
      window.cut = true
      // A cut row is worth showing only when it is the first: the next page begins with a whole one.
      if (this.#rows.length > 0 && !this.#open) return
      window.partial = true
    }
    const kept = cutText(row, Math.max(0, room))
    if (this.#open) this.#rows[this.#rows.length - 1] += kept
    else this.#rows.push(kept)
    this.#used += kept.length + (this.#open ? 0 : 1)
    this.#open = true
    window.last = window.total
  }

  end(): LineWindow {
    // An empty stream has one empty line and no piece to push.
    if (this.#window.total === 1 && !this.#open && this.#from === 1) this.#keep('')
    return { ...this.#window, text: this.#rows.join('\n') }
  }
}
