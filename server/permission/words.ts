/** A command as a list of words, or why it is more than one simple command. */
export type Words = { kind: 'simple'; words: string[] } | { kind: 'complex'; why: string }

const SPECIAL: Readonly<Record<string, string>> = {
  ';': 'a second command',
  '&': 'a second command',
  '|': 'a second command',
  '\n': 'a second command',
  '<': 'a redirection',
  '>': 'a redirection',
  '(': 'a subshell',
  ')': 'a subshell',
  $: 'an expansion',
  '`': 'an expansion',
  '*': 'a pattern',
  '?': 'a pattern',
  '[': 'a pattern',
  ']': 'a pattern',
  '{': 'a brace expansion',
  '}': 'a brace expansion',
  '~': 'a home folder',
  '#': 'a comment',
  '!': 'a history expansion',
}

const complex = (why: string): Words => ({ kind: 'complex', why: `it has ${why}` })

/**
 * The words of a single simple command, quotes and backslashes taken off. Everything that would make a shell do more than
 * run one program with these very words is complex: what a rule says of such a text cannot be trusted.
 */
export function wordsOf(command: string): Words {
  const text = command.trim()
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === ' ' || char === '\t') {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    if (char === "'" || char === '"') {
      const quoted = quotedAt(text, at)
      if ('why' in quoted) return complex(quoted.why)
      word = (word ?? '') + quoted.text
      at = quoted.end
      continue
    }
    if (char === '\\') {
      const next = text[++at]
      if (next === undefined || next === '\n') return complex('an open line')
      word = (word ?? '') + next
      continue
    }
    const why = SPECIAL[char]
    if (why !== undefined) return complex(why)
    if (char < ' ' || char === '\u007f') return complex('a control character')
    word = (word ?? '') + char
  }
  if (word !== undefined) words.push(word)
  const [program] = words
  if (program === undefined || program === '') return { kind: 'complex', why: 'it names no program' }
  if (program.includes('=')) return complex('a variable set for it')
  return { kind: 'simple', words }
}

/** A quoted part from its opening quote on; `end` is the closing one's place. */
function quotedAt(text: string, start: number): { text: string; end: number } | { why: string } {
  const quote = text[start]!
  let content = ''
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]!
    if (char === quote) return { text: content, end: at }
    if (quote === "'") {
      content += char
      continue
    }
    if (char === '$' || char === '`' || char === '!') return { why: SPECIAL[char]! }
    if (char !== '\\') {
      content += char
      continue
    }
    const next = text[++at]
    if (next === undefined) return { why: 'an open quote' }
    // Inside double quotes a backslash stays before anything but these (POSIX shell, 2.2.3).
    content += '$`"\\'.includes(next) ? next : next === '\n' ? '' : `\\${next}`
  }
  return { why: 'an open quote' }
}
