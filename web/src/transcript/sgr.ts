/** A run of terminal text in one style. Colours are names, so that the theme decides what they look like. */
export interface Run {
  text: string
  fg?: string
  bg?: string
  bold?: true
  dim?: true
  italic?: true
  underline?: true
}
type Style = Omit<Run, 'text'>

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

// CSI sequences, OSC strings (ended by BEL or ST), two-byte escapes, and any of them cut off at the end; only `m` means something.
// oxlint-disable-next-line no-control-regex
const ESCAPE = /\x1b\[([0-9:;<=>?]*)[ -/]*(?:([@-~])|$)|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*(?:[0-Z\\^-~]|$)/g

/**
 * Splits terminal output into styled runs: SGR colours and weights are kept, every other escape is dropped, CRLF becomes
 * LF, and a progress line rewritten by carriage returns shows its last state.
 */
export function parseSgr(input: string): Run[] {
  const text = settleReturns(input.replace(/\r\n/g, '\n'))
  const runs: Run[] = []
  let style: Style = {}
  let at = 0
  const push = (piece: string) => {
    // oxlint-disable-next-line no-control-regex
    const clean = piece.replace(/[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g, '')
    if (clean !== '') runs.push({ text: clean, ...style })
  }
  for (const match of text.matchAll(ESCAPE)) {
    push(text.slice(at, match.index))
    at = match.index + match[0].length
    if (match[2] === 'm') style = restyle(style, match[1] ?? '')
  }
  push(text.slice(at))
  return runs
}

/** Within a line, what follows the last carriage return is what the screen showed. */
function settleReturns(text: string): string {
  if (!text.includes('\r')) return text
  const settle = (line: string) => {
    const kept = line.endsWith('\r') ? line.slice(0, -1) : line
    return kept.slice(kept.lastIndexOf('\r') + 1)
  }
  return text.split('\n').map(settle).join('\n')
}

function restyle(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map((code) => (code === '' ? 0 : Number(code)))
  const style: Style = { ...before }
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0
    if (code === 38 || code === 48) {
      const [color, used] = extended(codes.slice(index + 1))
      if (color) style[code === 38 ? 'fg' : 'bg'] = color
      index += used
    } else {
      simple(style, code)
    }
  }
  return style
}

function simple(style: Style, code: number): void {
  if (code === 0) for (const key of Object.keys(style) as (keyof Style)[]) delete style[key]
  if (code === 1) style.bold = true
  if (code === 2) style.dim = true
  if (code === 3) style.italic = true
  if (code === 4) style.underline = true
  if (code === 22) {
    delete style.bold
    delete style.dim
  }
  if (code === 23) delete style.italic
  if (code === 24) delete style.underline
  if (code === 39) delete style.fg
  if (code === 49) delete style.bg
  const name = NAMES[code % 10]
  const tens = Math.floor(code / 10)
  if (name && (tens === 3 || tens === 9)) style.fg = name
  if (name && (tens === 4 || tens === 10)) style.bg = name
}

/** `5;n` of the 256 colours, or `2;r;g;b`; the nearest of the eight names. Second value: how many codes it took. */
function extended(codes: number[]): [string | undefined, number] {
  if (codes[0] === 5) return [nearest(codes[1] ?? 0), 2]
  if (codes[0] === 2) return [nameOf(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4]
  return [undefined, 0]
}

function nearest(index: number): string | undefined {
  if (index < 16) return NAMES[index % 8]
  if (index >= 232) return index < 244 ? 'black' : 'white'
  const level = index - 16
  return nameOf(Math.floor(level / 36) * 51, (Math.floor(level / 6) % 6) * 51, (level % 6) * 51)
}

function nameOf(r: number, g: number, b: number): string | undefined {
  const limit = Math.max(r, g, b) * 0.6
  if (Math.max(r, g, b) < 48) return 'black'
  return NAMES[(r >= limit ? 1 : 0) + (g >= limit ? 2 : 0) + (b >= limit ? 4 : 0)]
}
