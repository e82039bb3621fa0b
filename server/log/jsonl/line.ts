import { crc32 } from 'node:zlib'

/** `,"crc":"` + 8 hex digits + `"}`: always the last bytes of a line (SL-01). */
const PREFIX = Buffer.from(',"crc":"')
const SUFFIX = Buffer.from('"}')
const TAIL = PREFIX.length + 8 + SUFFIX.length
const COMMA = 44
const BRACE = 125
export const NEWLINE = 10

/** Radix conversion of 32-bit numbers costs more than the checksum itself; four look-ups do not. */
const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const hex = (crc: number): string =>
  BYTES[crc >>> 24]! + BYTES[(crc >>> 16) & 255]! + BYTES[(crc >>> 8) & 255]! + BYTES[crc & 255]!

/** One stored line with its newline: plain JSON whose last key is the CRC-32 of the record without it. */
export function encodeLine(record: object): string {
  const json = JSON.stringify(record)
  return `${json.slice(0, -1)},"crc":"${hex(crc32(json))}"}\n`
}

export const crcOf = (record: object): string => hex(crc32(JSON.stringify(record)))

/** The record of one line (without newline), `crc` taken off; undefined when any bit of it is wrong. */
export function decodeLine(line: Buffer): Record<string, unknown> | undefined {
  const at = line.length - TAIL
  if (at < 1 || line.compare(PREFIX, 0, PREFIX.length, at, at + PREFIX.length) !== 0) return undefined
  if (line.compare(SUFFIX, 0, SUFFIX.length, line.length - SUFFIX.length) !== 0) return undefined
  const stored = line.toString('latin1', at + PREFIX.length, at + PREFIX.length + 8)
  // The brace that closed the record is put back in the place of the comma, so that checksum and parser see one piece.
  line[at] = BRACE
  const crc = hex(crc32(line.subarray(0, at + 1)))
  const text = stored === crc ? line.toString('utf8', 0, at + 1) : undefined
  line[at] = COMMA
  // The text form is compared, so that a flipped bit that only changes the case of a digit is seen as well.
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    // A CRC that fits text which is no JSON: not written by us, hence as bad as a wrong CRC.
    return undefined
  }
}
