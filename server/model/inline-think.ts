export interface ThinkPiece {
  kind: 'text' | 'reasoning'
  s: string
}

const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * Splits `<think>…</think>` off the head of an answer, wherever the chunks cut the tags (LT-23). Only a tag before any
 * other text counts: one further on is text about the tag.
 */
export class ThinkSplitter {
  #state: 'head' | 'thinking' | 'after' | 'text' = 'head'
  #held = ''

  push(chunk: string): ThinkPiece[] {
    if (this.#state === 'text') return chunk === '' ? [] : [{ kind: 'text', s: chunk }]
    this.#held += chunk
    return this.#advance()
  }

  /** What was held back as a possible tag, at the end of the answer. */
  flush(): ThinkPiece[] {
    const rest = this.#held
    this.#held = ''
    if (rest === '') return []
    return [{ kind: this.#state === 'thinking' ? 'reasoning' : 'text', s: rest }]
  }

  #advance(): ThinkPiece[] {
    switch (this.#state) {
      case 'head': {
        const start = this.#held.trimStart()
        if (start.startsWith(OPEN)) {
          this.#state = 'thinking'
          this.#held = start.slice(OPEN.length)
          return this.#advance()
        }
        if (OPEN.startsWith(start)) return []
        return this.#release()
      }
      case 'thinking': {
        const end = this.#held.indexOf(CLOSE)
        if (end < 0) return this.#thought(this.#held.length - tagPrefix(this.#held))
        const pieces = this.#thought(end)
        this.#held = this.#held.slice(CLOSE.length)
        this.#state = 'after'
        return [...pieces, ...this.#advance()]
      }
      case 'after': {
        // Models put blank lines between the closing tag and the answer; they belong to neither.
        this.#held = this.#held.trimStart()
        return this.#held === '' ? [] : this.#release()
      }
      case 'text':
        return this.#release()
    }
  }

  #thought(length: number): ThinkPiece[] {
    const s = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return s === '' ? [] : [{ kind: 'reasoning', s }]
  }

  #release(): ThinkPiece[] {
    this.#state = 'text'
    const s = this.#held
    this.#held = ''
    return s === '' ? [] : [{ kind: 'text', s }]
  }
}

/** Length of the longest end of `text` that could begin the closing tag. */
function tagPrefix(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--)
    if (CLOSE.startsWith(text.slice(-length))) return length
  return 0
}
