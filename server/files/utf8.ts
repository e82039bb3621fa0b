import { isAscii, isUtf8 } from 'node:buffer'
import { FsError } from './fs.ts'

export const BOM = Buffer.from([0xef, 0xbb, 0xbf])
export const hasBom = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf

const sizeText = (bytes: number): string => `${bytes.toLocaleString('en-US')} bytes`

function firstBadByte(bytes: Buffer): number {
  let low = 0
  let high = bytes.length
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (isUtf8(bytes.subarray(0, completeEnd(bytes.subarray(0, middle))))) low = middle
    if (low < middle) high = middle - 1
  }
  return completeEnd(bytes.subarray(0, low))
}

/** A guess for the hint only; nothing is ever decoded with it. */
function likelyEncoding(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'UTF-16LE'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'UTF-16BE'
  const sample = bytes.subarray(0, 65_536)
  const high = sample.filter((byte) => byte >= 0x80).length
  const decoded = new TextDecoder('gb18030').decode(sample)
  const cjk = decoded.match(/[\u4e00-\u9fff\u3000-\u303f\uff00-\uffef]/g)?.length ?? 0
  if (high > 0 && cjk * 2 >= high * 0.9 && !decoded.includes('\ufffd')) return 'GB18030'
  return 'ISO-8859-1 (or WINDOWS-1252)'
}

/** Why `bytes` (the file or its start) is not text. `size` is that of the whole file, `offset` where `bytes` begins. */
export function notText(path: string, bytes: Buffer, size: number, offset = 0): FsError {
  const encoding = likelyEncoding(bytes)
  const utf16 = encoding.startsWith('UTF-16') && offset === 0
  if (bytes.includes(0) && !utf16)
    return new FsError(
      'FS_NOT_TEXT',
      `${path} is a binary file (${sizeText(size)}), not text. Use the shell to inspect it.`,
    )
  const at = utf16 ? 0 : firstBadByte(bytes)
  const value = bytes[at]?.toString(16).padStart(2, '0') ?? '??'
  const name = encoding.split(' ')[0]
  return new FsError(
    'FS_NOT_TEXT',
    `${path} is not UTF-8: its encoding is probably ${encoding} (byte 0x${value} at offset ${offset + at}, ${sizeText(size)}). ` +
      `Nothing was changed. Convert a copy in the shell, for example: iconv -f ${name} -t UTF-8 FILE > COPY`,
  )
}

/** Where the last whole code point of `bytes` ends: at most three bytes before the end. */
export function completeEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte < 0xc0) continue
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return needs > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

const fast = (bytes: Buffer): string => (isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8'))

/** Strict: FS_NOT_TEXT for a NUL or anything that is not UTF-8. The mark is left out. */
export function decodeText(path: string, bytes: Buffer): { text: string; bom: boolean } {
  if (bytes.includes(0) || !isUtf8(bytes)) throw notText(path, bytes, bytes.length)
  const bom = hasBom(bytes)
  return { text: fast(bom ? bytes.subarray(3) : bytes), bom }
}

/** FS_NOT_TEXT, before anything is touched, for text that UTF-8 cannot hold or that would make the file binary. */
export function encodeText(path: string, text: string, bom = false): Buffer {
  if (!text.isWellFormed())
    throw new FsError(
      'FS_NOT_TEXT',
      `The text for ${path} has half of a surrogate pair and cannot be written as UTF-8.`,
    )
  if (text.includes('\0'))
    throw new FsError('FS_NOT_TEXT', `The text for ${path} has a NUL character, which would make the file binary.`)
  const bytes = Buffer.from(text, 'utf8')
  return bom ? Buffer.concat([BOM, bytes]) : bytes
}

/** Strict decoding of a byte stream, piece by piece; memory is one chunk plus three bytes. */
export class Utf8Pieces {
  bom = false
  #carry: Buffer = Buffer.alloc(0)
  #seen = 0
  readonly #path: string
  readonly #size: number

  constructor(path: string, size: number) {
    this.#path = path
    this.#size = size
  }

  push(chunk: Buffer): string {
    const bytes = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk])
    const start = this.#seen - this.#carry.length
    this.#seen += chunk.length
    const end = completeEnd(bytes)
    const whole = bytes.subarray(0, end)
    // Copied: the reader reuses its buffer for the next chunk.
    this.#carry = Buffer.from(bytes.subarray(end))
    if (whole.includes(0) || !isUtf8(whole)) throw notText(this.#path, whole, this.#size, start)
    if (start > 0 || !hasBom(whole)) return fast(whole)
    this.bom = true
    return fast(whole.subarray(3))
  }

  end(): void {
    if (this.#carry.length > 0) throw notText(this.#path, this.#carry, this.#size, this.#seen - this.#carry.length)
  }
}
