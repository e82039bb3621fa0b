import { FENCE, FENCE_END } from './line.ts'
import { Ring, type Kept } from './ring.ts'

const PREFIX = Buffer.from(FENCE)
const END = FENCE_END.charCodeAt(0)
const LONGEST_TOKEN = 32
const TOKEN = new Set(Buffer.from('S0123456789abcdef'))
const NOTHING = Buffer.alloc(0)
const SIDE = 32 * 1024

export interface TranscriptEvents {
  /** The start fence came; the bytes before it did not belong to the call. */
  started(before: Kept): void
  /** The end fence came. False: it is a forgery and stays text. */
  ended(): boolean
  /** Bytes of the call's output. */
  output(chunk: Buffer): void
}

/** Splits the byte stream of one call at its fences. What comes after the end is given back to the caller. */
export class Transcript {
  readonly #events: TranscriptEvents
  readonly #start: string
  readonly #end: string
  readonly #before = new Ring(SIDE, SIDE)
  readonly #inside = new Ring(SIDE, SIDE)
  #carry: Buffer = NOTHING
  #phase: 'before' | 'inside' | 'after' = 'before'

  constructor(nonce: string, events: TranscriptEvents) {
    this.#events = events
    this.#start = `S${nonce}`
    this.#end = nonce
  }

  get startSeen(): boolean {
    return this.#phase !== 'before'
  }

  /** Without a start fence nothing can be told apart: all bytes since the line was typed are the output. */
  kept(): Kept {
    this.#take(this.#carry)
    this.#carry = NOTHING
    return (this.startSeen ? this.#inside : this.#before).kept()
  }

  /** Returns the bytes that follow the end fence. */
  push(chunk: Buffer): Buffer {
    const data = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk])
    this.#carry = NOTHING
    let from = 0
    while (this.#phase !== 'after') {
      const at = data.indexOf(PREFIX, from)
      if (at < 0) break
      const end = tokenEnd(data, at + PREFIX.length)
      if (end === data.length && end - at < PREFIX.length + LONGEST_TOKEN) {
        this.#take(data.subarray(from, at))
        this.#carry = Buffer.from(data.subarray(at))
        return NOTHING
      }
      const closed = data[end] === END
      const next = closed ? end + 1 : end
      const token = closed ? data.toString('latin1', at + PREFIX.length, end) : ''
      this.#take(data.subarray(from, at))
      if (!this.#fence(token)) this.#take(data.subarray(at, next))
      from = next
    }
    const rest = from === 0 ? data : data.subarray(from)
    if (this.#phase === 'after') return rest
    const held = heldBack(rest)
    this.#take(held === 0 ? rest : rest.subarray(0, rest.length - held))
    if (held > 0) this.#carry = Buffer.from(rest.subarray(rest.length - held))
    return NOTHING
  }

  #fence(token: string): boolean {
    if (token === this.#start && this.#phase === 'before') {
      this.#phase = 'inside'
      this.#events.started(this.#before.kept())
      return true
    }
    if (token !== this.#end || !this.#events.ended()) return false
    this.#phase = 'after'
    return true
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.#phase === 'before') return this.#before.push(bytes)
    this.#inside.push(bytes)
    this.#events.output(bytes)
  }
}

/** A fence that breaks off is text, and must not hide the true one behind it. */
function tokenEnd(data: Buffer, from: number): number {
  let at = from
  while (at < data.length && at - from < LONGEST_TOKEN && TOKEN.has(data[at]!)) at++
  return at
}

/** How many bytes at the end may be the beginning of a fence. */
function heldBack(data: Buffer): number {
  const escape = data.lastIndexOf(0x1b)
  const length = data.length - escape
  if (escape < 0 || length >= PREFIX.length) return 0
  return data.subarray(escape).equals(PREFIX.subarray(0, length)) ? length : 0
}
