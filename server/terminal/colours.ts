// oxlint-disable no-control-regex -- terminal escapes are what this file is about
/** Whole escapes, the one that is kept among them, and single controls that mean nothing in a text. */
const ESCAPE =
  /\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-OQ-WYZ\\`-~]/g
const CONTROL = /[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[0-9;:]*m)/g
/** An escape or a line end that the next piece may complete. */
const OPEN = /(?:\r|\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)?)$/
/** Characters of an escape that is waited for; a longer one is no escape. */
const LONGEST = 4096

/** A terminal's bytes as text whose only escapes are colours, wherever the stream is cut. */
export class Colours {
  readonly #hidden: string
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #held = ''

  /** Lines that hold `hidden` are the wrapper's: they are left out, or shown with `command` for its file. */
  constructor(hidden: string) {
    this.#hidden = hidden
  }

  push(bytes: Buffer): string {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true })
    const open = OPEN.exec(text)?.[0].length ?? 0
    const cut = text.length - (open <= LONGEST ? open : 0)
    const ready = this.#whole(text.slice(0, cut))
    this.#held = text.slice(ready.length)
    return this.#clean(ready)
  }

  /** What came before has gaps: nothing of it continues. */
  reset(): void {
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    this.#held = ''
  }

  /** A last line that may be the wrapper's is shown when it is whole. */
  #whole(text: string): string {
    const line = text.lastIndexOf('\n') + 1
    if (text.length - line > LONGEST) return text
    if (text.includes(this.#hidden, line)) return text.slice(0, line)
    let most = Math.min(this.#hidden.length - 1, text.length - line)
    while (most > 0 && !text.endsWith(this.#hidden.slice(0, most))) most--
    return text.slice(0, text.length - most)
  }

  #clean(raw: string): string {
    const text = raw
      .replace(/\r+\n/g, '\n')
      .replace(ESCAPE, (escape) => (escape.endsWith('m') && /^\x1b\[[0-9;:]*m$/.test(escape) ? escape : ''))
      .replace(CONTROL, '')
    if (!text.includes(this.#hidden)) return text
    return text
      .split(/(?<=\n)/)
      .flatMap((line) => this.#own(line))
      .join('')
  }

  #own(line: string): string[] {
    const shown = line.replace(/\/[\w./-]*\/[0-9a-f]{16}\.sh/g, (path) =>
      path.includes(this.#hidden) ? 'command' : path,
    )
    return shown.includes(this.#hidden) ? [] : [shown]
  }
}
