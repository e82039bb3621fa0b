import './context.ts'
import { mkdir } from 'node:fs/promises'
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
    const folder: DataFolder = { path, file: (...parts) => join(path, ...parts) }
    ctx.provide('dataFolder', folder)
  },
})
