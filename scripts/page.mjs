import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { precompress } from './precompress.mjs'
import { at, root, runtime, say } from './root.mjs'

const inputs = [
  'web',
  'server/wire',
  'server/projection',
  'package-lock.json',
  'vite.config.ts',
  'scripts/page.mjs',
  'scripts/precompress.mjs',
]

/** Builds `dist/web` when an input differs from the last finished build. Throws when the build fails. */
export async function buildPage() {
  if (!existsSync(at('web', 'index.html'))) {
    say('web/index.html is missing, so no page is built')
    return
  }
  const stamp = at('dist', 'page-stamp')
  const wanted = inputsDigest()
  if (existsSync(at('dist', 'web', 'index.html')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  say('building the page')
  // Without its stamp a build that is interrupted is not taken for a finished one.
  rmSync(stamp, { force: true })
  const vite = at('node_modules', 'vite', 'bin', 'vite.js')
  const env = { ...process.env, NODE_ENV: 'production' }
  const built = spawnSync(runtime(), [vite, 'build', '--logLevel', 'warn'], { cwd: root, stdio: 'inherit', env })
  if (built.status !== 0) throw new Error('the page build failed, see above')
  await precompress(at('dist', 'web'))
  mkdirSync(at('dist'), { recursive: true })
  writeFileSync(stamp, wanted)
}

function inputsDigest() {
  const hash = createHash('sha256')
  for (const file of inputs.flatMap((input) => filesBelow(at(input)))) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  }
  return hash.digest('hex')
}

function filesBelow(path) {
  if (!existsSync(path)) return []
  if (statSync(path).isFile()) return [path]
  return readdirSync(path)
    .sort()
    .filter((name) => !/\.test\.tsx?$/.test(name))
    .flatMap((name) => filesBelow(join(path, name)))
}
