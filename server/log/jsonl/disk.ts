import * as fs from 'node:fs/promises'
import { watch } from 'node:fs'

/** The part of a FileHandle that the log uses; offsets and lengths in bytes. */
export interface DiskFile {
  write(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
  datasync(): Promise<void>
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  stat(): Promise<{ size: number; mtimeMs: number; ino: number }>
  close(): Promise<void>
}

/** The file system as the log needs it; a parameter, so that faults can be injected. */
export interface Disk {
  open(path: string, flags: string, mode?: number): Promise<DiskFile>
  mkdir(path: string): Promise<void>
  readFile(path: string): Promise<Buffer>
  readdir(path: string): Promise<string[]>
  stat(path: string): Promise<{ size: number; mtimeMs: number; ino: number }>
  link(from: string, to: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  removeTree(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
  watch(path: string, onChange: () => void): () => void
}

export const nodeDisk: Disk = {
  open: (path, flags, mode = 0o600) => fs.open(path, flags, mode),
  mkdir: async (path) => void (await fs.mkdir(path, { recursive: true, mode: 0o700 })),
  readFile: (path) => fs.readFile(path),
  readdir: (path) => fs.readdir(path),
  stat: (path) => fs.stat(path),
  link: (from, to) => fs.link(from, to),
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),
  removeTree: (path) => fs.rm(path, { recursive: true, force: true }),
  async syncDirectory(path) {
    // Windows cannot open a directory; its journal orders the rename by itself.
    if (process.platform === 'win32') return
    const handle = await fs.open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  watch(path, onChange) {
    const watcher = watch(path, { persistent: false }, () => onChange())
    // A watched directory that disappears ends its watch; whoever reads next finds that out.
    watcher.on('error', () => onChange())
    return () => watcher.close()
  },
}

export const isErrno = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/** Writes all of it, over as many calls as the system needs. */
export async function writeFully(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    if (bytesWritten === 0) throw Object.assign(new Error('the disk took no bytes'), { code: 'EIO' })
    done += bytesWritten
  }
}

/** Up to `length` bytes from `position`; shorter at the end of the file. */
export async function readFully(file: DiskFile, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return buffer.subarray(0, done)
}
