const STRING = /"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y
const SPACE = /[ \t\r\n]*/y

/** Line, from 1, on which a text stops being JSON. Browsers name a position for some faults only, each in its own words. */
export function faultLine(text: string): number {
  const at = Math.min(new Reader(text).fault(), text.trimEnd().length)
  return text.slice(0, at).split('\n').length
}

class Reader {
  private at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  fault(): number {
    if (this.value()) this.take(SPACE)
    return this.at
  }

  /** Whether the pattern stands here; then it is passed. */
  private take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.text)
    if (match) this.at += match[0].length
    return match !== null
  }

  private sign(sign: string): boolean {
    this.take(SPACE)
    if (this.text[this.at] !== sign) return false
    this.at++
    return true
  }

  private value(): boolean {
    if (this.sign('{')) return this.list('}', () => this.member())
    if (this.sign('[')) return this.list(']', () => this.value())
    return this.take(STRING) || this.take(SCALAR)
  }

  private member(): boolean {
    this.take(SPACE)
    return this.take(STRING) && this.sign(':') && this.value()
  }

  private list(end: string, item: () => boolean): boolean {
    if (this.sign(end)) return true
    for (;;) {
      if (!item()) return false
      if (this.sign(end)) return true
      if (!this.sign(',')) return false
    }
  }
}
