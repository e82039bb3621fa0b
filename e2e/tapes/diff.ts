/**
 * What differs between a taped request and the one that went out, as lines with their surroundings; undefined when every
 * byte is the same. The order of the fields counts: it is part of the bytes.
 */
export function difference(taped: unknown, sent: unknown): string | undefined {
  const [before, after] = [taped, sent].map((value) => JSON.stringify(value, null, 2).split('\n')) as [string[], string[]]
  const head = common(before, after)
  if (head === before.length && head === after.length) return undefined
  const tail = common(before.slice(head).reverse(), after.slice(head).reverse())
  const cut = (lines: string[], mark: string) => lines.slice(head, lines.length - tail).map((line) => `${mark} ${line}`)
  const around = (lines: string[]) => lines.map((line) => `  ${line}`)
  return [
    'The request is not the taped one. Review the difference; CORE_WEB_TAPES=write records it anew.',
    ...around(before.slice(Math.max(0, head - 3), head)),
    ...cut(before, '-'),
    ...cut(after, '+'),
    ...around(before.slice(before.length - tail, before.length - tail + 3)),
  ].join('\n')
}

/** How many lines two lists have in common from their beginning. */
function common(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((line, index) => line !== b[index])
  return at < 0 ? a.length : at
}
