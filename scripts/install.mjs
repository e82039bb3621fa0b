import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { at, root, say } from './root.mjs'

/** `npm ci` unless node_modules already holds what the lock file names. Throws when npm fails. */
export function installDependencies() {
  if (isInstalled()) return
  say('installing dependencies (about half a minute)')
  // --include: with NODE_ENV=production or an `omit` setting npm would leave out the build tools or the runtime.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=error']
  const npm = process.env.npm_execpath
  const done = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  if (done.status !== 0) throw new Error('npm ci failed, see above')
}

/** npm writes node_modules/.package-lock.json last, so equality with the lock means a finished install. */
function isInstalled() {
  const wanted = packagesOf('package-lock.json')
  const present = packagesOf('node_modules', '.package-lock.json')
  if (!wanted || !present) return false
  const missing = Object.entries(wanted).some(
    ([path, entry]) => path !== '' && !entry.optional && !entry.devOptional && present[path]?.version !== entry.version,
  )
  const foreign = Object.entries(present).some(([path, entry]) => wanted[path]?.version !== entry.version)
  return !missing && !foreign
}

function packagesOf(...path) {
  try {
    return JSON.parse(readFileSync(at(...path), 'utf8')).packages
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`${path.join('/')} cannot be read`, { cause: error })
  }
}
