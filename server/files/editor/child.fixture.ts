import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync } from 'node:fs'
import type { Json } from '../../wire/json.ts'
import { localFs } from '../fs-local.ts'
import { called, contextOf, type Called } from '../testing.ts'
import { strReplaceEditor } from './editor.ts'

const NOBODY = 65534

/** The program: takes editor calls as JSON on stdin and prints their outcomes. */
export const CHILD = import.meta.filename

/** Editor calls in a child process under an unprivileged user; `open` (the workspace) is given to that user first. */
export function runAsNobody(calls: Json[], options: { open: string }): Called[] {
  const root = process.getuid?.() === 0
  chmodSync(options.open, 0o755)
  if (root) chownSync(options.open, NOBODY, NOBODY)
  const child = spawnSync(process.execPath, [CHILD], {
    input: JSON.stringify(calls),
    encoding: 'utf8',
    cwd: '/',
    ...(root && { uid: NOBODY, gid: NOBODY }),
  })
  if (child.status !== 0) throw new Error(`the child failed: ${child.stderr}`)
  return JSON.parse(child.stdout) as Called[]
}

if (process.argv[1] === CHILD) {
  const tool = strReplaceEditor(localFs())
  const outcomes: Called[] = []
  for (const args of JSON.parse(readFileSync(0, 'utf8')) as Json[])
    outcomes.push(called(await tool.run(args, contextOf())))
  process.stdout.write(JSON.stringify(outcomes))
}
