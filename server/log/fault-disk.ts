import { nodeDisk, type Disk, type DiskFile } from './jsonl/disk.ts'

/** Decides before each call on a log file; a returned error is thrown in its place, a promise is waited for. */
export type Fault = (
  call: 'write' | 'datasync' | 'sync' | 'truncate' | 'link',
  path: string,
) => Error | Promise<void> | null

export const noSpace = (): Error => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
export const ioError = (): Error => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })

/** A real disk with a switch in front of it; `calls` counts what went through. */
export function faultDisk(fault: { current: Fault | null }): Disk & { calls: Record<string, number> } {
  const calls: Record<string, number> = {}
  const check = async (call: Parameters<Fault>[0], path: string): Promise<void> => {
    calls[call] = (calls[call] ?? 0) + 1
    const found = fault.current?.(call, path)
    if (found instanceof Error) throw found
    await found
  }
  return {
    ...nodeDisk,
    calls,
    async open(path, flags, mode) {
      return guard(await nodeDisk.open(path, flags, mode), path, check)
    },
    async link(from, to) {
      await check('link', to)
      await nodeDisk.link(from, to)
    },
  }
}

function guard(
  file: DiskFile,
  path: string,
  check: (call: Parameters<Fault>[0], path: string) => Promise<void>,
): DiskFile {
  return {
    async write(buffer, offset, length, position) {
      try {
        await check('write', path)
      } catch (error) {
        // A full disk takes the first part of a write and refuses the rest.
        await file.write(buffer, offset, Math.floor(length / 2), position)
        throw error
      }
      return file.write(buffer, offset, length, position)
    },
    read: (buffer, offset, length, position) => file.read(buffer, offset, length, position),
    async datasync() {
      await check('datasync', path)
      await file.datasync()
    },
    async sync() {
      await check('sync', path)
      await file.sync()
    },
    async truncate(length) {
      await check('truncate', path)
      await file.truncate(length)
    },
    stat: () => file.stat(),
    close: () => file.close(),
  }
}
