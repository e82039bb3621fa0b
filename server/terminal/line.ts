import type { ControlDir } from './control.ts'

/** Fences are OSC sequences: a terminal shows nothing of them, and a redirected command cannot swallow them. */
export const FENCE = '\x1b]7777;'
export const FENCE_END = '\x07'

export interface LineOptions {
  /** What `$?` is for the command. */
  previous: number
  /** Redirections of the sourced command. */
  redirect: string
}

export const redirections = (stdin: 'null' | 'tty') => `${stdin === 'null' ? '</dev/null ' : ''}>/dev/tty 2>&1`

/**
 * The one line typed per call: start record, start fence, previous status, the command by its file, then `endLine`.
 * Only builtins and redirections, so neither PATH nor an alias nor a function named like a command can break it.
 */
export function callLine(control: ControlDir, nonce: string, { previous, redirect }: LineOptions): string {
  const start = `>|"${control.path}/${nonce}.s"; { \\builtin printf '\\e]7777;S${nonce}\\a' >/dev/tty; } 2>/dev/null`
  // `&& :` keeps the status and keeps an ERR trap and errexit from firing on it.
  const status = previous === 0 ? '' : ` (\\builtin exit ${previous}) && \\builtin :;`
  const source = `\\builtin . '${control.script(nonce)}'${redirect && ` ${redirect}`}`
  return ` ${start};${status} ${source};${endLine(control, nonce)}`
}

/** Made when a person has typed into the call: what of it nobody has read must not become a command of the shell. */
export const typedMark = (nonce: string): string => `${nonce}.i`
/** Seconds until the terminal has nothing more to give. */
const DRAIN = 0.02

/**
 * Status record, end fence, and the options reset that would disturb the next line: errexit, tracing, line editing, and a
 * prompt (an activated virtual environment sets one), which would be printed after every call.
 */
export function endLine(control: ControlDir, nonce: string): string {
  const typed = `[[ ! -e "${control.path}/${typedMark(nonce)}" ]] || \\builtin read -r -t ${DRAIN} -N 65536 _ </dev/tty || \\builtin :`
  const fence = `\\builtin printf '\\e]7777;${nonce}\\a' >/dev/tty`
  return ` >|"${control.path}/${nonce}.$?"; { ${typed}; ${fence}; \\builtin set +exv +o emacs +o vi; PS1= PS2=; } 2>/dev/null\n`
}
