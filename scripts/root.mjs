import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Path below the repository's root. */
export const at = (...parts) => join(root, ...parts)

/** The pinned Node of `optionalDependencies` where it is installed, else the Node that runs this. */
export function runtime() {
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  const family = process.platform === 'win32' ? 'win' : process.platform
  const pinned = at('node_modules', `node-${family}-${process.arch}`, 'bin', file)
  return existsSync(pinned) ? pinned : process.execPath
}

export const say = (sentence) => console.log(`setup: ${sentence}`)
