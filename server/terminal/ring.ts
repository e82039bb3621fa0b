/** What a Ring kept: `head` and `tail` follow each other directly when `omitted` is 0. */
export interface Kept {
  head: Buffer
  tail: Buffer
  omitted: number
  total: number
}

/** Keeps the first `headSize` and the last `tailSize` bytes of a stream. Cost per chunk is one copy of at most the chunk. */
export class Ring {
  readonly #headSize: number
  readonly #tailSize: number
  #head: Buffer | undefined
  #tail: Buffer | undefined
  #headLength = 0
  #tailTotal = 0

  constructor(headSize: number, tailSize: number) {
    this.#headSize = headSize
    this.#tailSize = tailSize
  }

  get total(): number {
    return this.#headLength + this.#tailTotal
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    const forHead = Math.min(chunk.length, this.#headSize - this.#headLength)
    if (forHead > 0) {
      this.#head ??= Buffer.allocUnsafe(this.#headSize)
      chunk.copy(this.#head, this.#headLength, 0, forHead)
      this.#headLength += forHead
    }
    if (forHead < chunk.length) this.#pushTail(forHead === 0 ? chunk : chunk.subarray(forHead))
  }

  #pushTail(chunk: Buffer): void {
    const size = this.#tailSize
    this.#tail ??= Buffer.allocUnsafe(size)
    const from = Math.max(0, chunk.length - size)
    const at = (this.#tailTotal + from) % size
    const first = Math.min(chunk.length - from, size - at)
    chunk.copy(this.#tail, at, from, from + first)
    if (from + first < chunk.length) chunk.copy(this.#tail, 0, from + first)
    this.#tailTotal += chunk.length
  }

  kept(): Kept {
    const head = Buffer.from(this.#head?.subarray(0, this.#headLength) ?? [])
    const total = this.total
    if (!this.#tail || this.#tailTotal === 0) return { head, tail: Buffer.alloc(0), omitted: 0, total }
    if (this.#tailTotal <= this.#tailSize)
      return { head, tail: Buffer.from(this.#tail.subarray(0, this.#tailTotal)), omitted: 0, total }
    const at = this.#tailTotal % this.#tailSize
    const tail = Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)])
    return { head, tail, omitted: this.#tailTotal - this.#tailSize, total }
  }

  clear(): void {
    this.#headLength = 0
    this.#tailTotal = 0
  }
}
