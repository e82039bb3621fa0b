import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { ControlDir } from './control.ts'

export interface Exports {
  /** As the shell sees it. */
  cwd: string
  env: Record<string, string>
}

const NAME = 'exports'
const MOST_BYTES = 1024 * 1024
/** Written by a program, not by `export -p`: what comes back is data whatever the shell's functions are called. */
export const EXPORTS = `\\command -p env -0 >|"\${BASH_SOURCE[0]%/*}/${NAME}"`

/** They would make any program run other code than its own. */
const LOADERS =
  /^(LD_.*|DYLD_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PROMPT_COMMAND|PS4|NODE_OPTIONS|PYTHONSTARTUP|PERL5OPT|RUBYOPT|_)$/

/**
 * The variables that a shell exported, without those that load code into other programs; undefined when it left none. Its
 * folder belongs to the commands: what lies there may be a link, a pipe, or anything.
 */
export function readExports(control: ControlDir): Record<string, string> | undefined {
  const text = readPlain(`${control.path}/${NAME}`)
  if (text === undefined) return undefined
  const entries = text.split('\0').flatMap((entry) => {
    const at = entry.indexOf('=')
    const name = entry.slice(0, at)
    return at > 0 && !LOADERS.test(name) ? [[name, entry.slice(at + 1)] as const] : []
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function readPlain(path: string): string | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let file: number | undefined
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const { size } = fstatSync(file)
    if (!fstatSync(file).isFile() || size > MOST_BYTES) return undefined
    const bytes = Buffer.alloc(size)
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, size, 0))
  } catch {
    return undefined // not written, or not what it should be
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
