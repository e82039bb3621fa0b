import './context.ts'
import { chmod, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { plugin } from '../preset/kernel.ts'

/** The folder that holds everything this host keeps. Nobody else on the machine may read it. */
export interface DataFolder {
  path: string
  file(...parts: string[]): string
}

export default plugin({
  name: 'data-folder',
  inject: ['webStartup'],
  async apply(ctx) {
    const path = ctx.webStartup.dataDir
    await mkdir(path, { recursive: true, mode: 0o700 })
    await close(path, (message) => ctx.logger.warn(message))
    const folder: DataFolder = { path, file: (...parts) => join(path, ...parts) }
    ctx.provide('dataFolder', folder)
  },
})

/** A folder that was there before may be open to others; what it holds is not for them. */
async function close(path: string, warn: (message: string) => void): Promise<void> {
  const { mode } = await stat(path)
  if (process.platform === 'win32' || (mode & 0o077) === 0) return
  try {
    await chmod(path, 0o700)
  } catch {
    // Another user's folder, or a disk without modes.
    warn(`Other users can read ${path}, where sessions and keys are kept. Run chmod 700 on it.`)
  }
}
