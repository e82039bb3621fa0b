import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../../wire/json.ts'
import type { Called } from '../testing.ts'

const NOBODY = 65534

/** Editor calls in a child process under an unprivileged user; `open` (the workspace) is given to that user first. */
export function runAsNobody(calls: Json[], options: { open: string }): Called[] {
  const root = process.getuid?.() === 0
  chmodSync(options.open, 0o755)
  if (root) chownSync(options.open, NOBODY, NOBODY)
  const child = spawnSync(process.execPath, [join(import.meta.dirname, 'child.fixture.ts')], {
    input: JSON.stringify(calls),
    encoding: 'utf8',
    cwd: '/',
    ...(root && { uid: NOBODY, gid: NOBODY }),
  })
  if (child.status !== 0) throw new Error(`the child failed: ${child.stderr}`)
  return JSON.parse(child.stdout) as Called[]
}
