import { cleanText, type Scrub } from './clean.ts'
import { Ring } from './ring.ts'

/** Milliseconds between two pieces of live text, the rhythm of two screen frames. */
const EVERY = 32
/** Bytes per piece; of a flood only the end of each interval is decoded, so that reading never waits for showing. */
const PIECE = 64 * 1024
const LONGEST_LINE = 16 * 1024

/** Output while it arrives: decoded and cleaned like the result, line by line where a line still changes. */
export class Live {
  readonly #emit: (text: string) => void
  readonly #scrub: Scrub
  readonly #hidden: string
  readonly #pending = new Ring(0, PIECE)
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #held = ''
  #timer: NodeJS.Timeout | undefined

  /** `hidden`: a line that holds this text is not shown before it is whole. */
  constructor(emit: (text: string) => void, scrub: Scrub, hidden: string) {
    this.#emit = emit
    this.#scrub = scrub
    this.#hidden = hidden
  }

  push(chunk: Buffer): void {
    this.#pending.push(chunk)
    this.#timer ??= setTimeout(() => this.#flush(), EVERY)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#flush()
    if (this.#held === '') return
    this.#send(this.#held)
    this.#held = ''
  }

  #flush(): void {
    this.#timer = undefined
    const { tail, omitted } = this.#pending.kept()
    this.#pending.clear()
    if (tail.length === 0) return
    if (omitted > 0) {
      this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true })
      this.#send(`${this.#held}\n[${omitted} bytes not shown]\n`)
      this.#held = ''
    }
    const text = this.#held + this.#decoder.decode(tail, { stream: true })
    const ready = this.#changes(text) ? text.lastIndexOf('\n') + 1 : text.length
    this.#held = text.slice(ready)
    if (ready > 0) this.#send(text.slice(0, ready))
  }

  /** The last line may still be redrawn, or may be the wrapper's. */
  #changes(text: string): boolean {
    const line = text.slice(text.lastIndexOf('\n') + 1)
    if (line.length > LONGEST_LINE) return false
    return line.includes('\r') || line.includes('\x1b') || line.includes(this.#hidden)
  }

  #send(raw: string): void {
    const text = cleanText(raw, this.#scrub)
    if (text !== '') this.#emit(text)
  }
}
