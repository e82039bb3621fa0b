export type Eol = '\n' | '\r\n'

/** How the lines of `text` end. `eol` is the more frequent one, LF when there is none. */
export function lineEndings(text: string): { eol: Eol; crlfOnly: boolean } {
  let crlf = 0
  let lf = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf++
    else lf++
  }
  return { eol: crlf > lf ? '\r\n' : '\n', crlfOnly: crlf > 0 && lf === 0 }
}

export const toCrlf = (text: string): string => text.replace(/\r?\n/g, '\r\n')

export const hasBareLf = (text: string): boolean => /(^|[^\r])\n/.test(text)
