import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  name: string
  content: Buffer
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const VERSION = 20
/** UTF-8 names. */
const FLAGS = 0x0800
const DEFLATED = 8
/** 1980-01-01, the format's first day: equal contents give equal archives. */
const DATE = 0x0021
/** Without the 64-bit extension, sizes and offsets end here. */
const MAX = 0xffff_ffff

/** A zip archive (PKWARE APPNOTE 6.3, sections 4.3.7, 4.3.12 and 4.3.16) of up to 4 GB, in memory. Throws when it would be larger. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const packed = deflateRawSync(content)
    const title = Buffer.from(name, 'utf8')
    const facts = { crc: crc32(content), packed: packed.length, size: content.length, name: title.length }
    const local = Buffer.concat([localHeader(facts), title, packed])
    parts.push(local)
    directory.push(centralHeader(facts, offset), title)
    offset += local.length
    if (offset > MAX || content.length > MAX) throw new Error('The archive would be larger than 4 GB.')
  }
  const central = Buffer.concat(directory)
  return Buffer.concat([...parts, central, endRecord(entries.length, central.length, offset)])
}

interface Facts {
  crc: number
  packed: number
  size: number
  name: number
}

function localHeader(facts: Facts): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(LOCAL, 0)
  common(header, facts, 4)
  return header
}

function centralHeader(facts: Facts, offset: number): Buffer {
  const header = Buffer.alloc(46)
  header.writeUInt32LE(CENTRAL, 0)
  header.writeUInt16LE(VERSION, 4)
  common(header, facts, 6)
  header.writeUInt32LE(offset, 42)
  return header
}

/** The fields that both headers share, in the same order. */
function common(header: Buffer, { crc, packed, size, name }: Facts, at: number): void {
  header.writeUInt16LE(VERSION, at)
  header.writeUInt16LE(FLAGS, at + 2)
  header.writeUInt16LE(DEFLATED, at + 4)
  header.writeUInt16LE(DATE, at + 8)
  header.writeUInt32LE(crc, at + 10)
  header.writeUInt32LE(packed, at + 14)
  header.writeUInt32LE(size, at + 18)
  header.writeUInt16LE(name, at + 22)
}

function endRecord(count: number, size: number, offset: number): Buffer {
  const record = Buffer.alloc(22)
  record.writeUInt32LE(END, 0)
  record.writeUInt16LE(count, 8)
  record.writeUInt16LE(count, 10)
  record.writeUInt32LE(size, 12)
  record.writeUInt32LE(offset, 16)
  return record
}
