import fc from 'fast-check'
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { wordsOf } from './words.ts'

test.each<[string, string[]]>([
  ['ls', ['ls']],
  ['  git   status\t-s ', ['git', 'status', '-s']],
  ["echo 'a b' c", ['echo', 'a b', 'c']],
  ['echo "a  b"c', ['echo', 'a  bc']],
  ['echo "a\\"b\\\\c\\d"', ['echo', 'a"b\\c\\d']],
  ["echo 'a\"$b`'", ['echo', 'a"$b`']],
  ['echo a\\ b\\;c', ['echo', 'a b;c']],
  ["echo '' x", ['echo', '', 'x']],
  ["grep 'a|b;c' f", ['grep', 'a|b;c', 'f']],
  ["printf 'two\nlines'", ['printf', 'two\nlines']],
  ['make CC=gcc', ['make', 'CC=gcc']],
])('%j is one simple command', (command, words) => {
  expect(wordsOf(command)).toEqual({ kind: 'simple', words })
})

test.each([
  ['', 'names no program'],
  ["''", 'names no program'],
  ['a; b', 'a second command'],
  ['a && b', 'a second command'],
  ['a | b', 'a second command'],
  ['a\nb', 'a second command'],
  ['a &', 'a second command'],
  ['a > f', 'a redirection'],
  ['a < f', 'a redirection'],
  ['a $(b)', 'an expansion'],
  ['a `b`', 'an expansion'],
  ['a "$b"', 'an expansion'],
  ['a "`b`"', 'an expansion'],
  ['a $b', 'an expansion'],
  ['(a)', 'a subshell'],
  ['{ a; }', 'a brace expansion'],
  ['ls *.ts', 'a pattern'],
  ['ls ?', 'a pattern'],
  ['ls [ab]', 'a pattern'],
  ['ls ~', 'a home folder'],
  ['ls # x', 'a comment'],
  ['! ls', 'a history expansion'],
  ['A=b ls', 'a variable'],
  ["echo 'a", 'an open quote'],
  ['echo "a', 'an open quote'],
  ['echo "a\\', 'an open quote'],
  ['echo a\\', 'an open line'],
  ['echo a\\\nb', 'an open line'],
  ['ls\u0007', 'a control character'],
])('%j is more than that', (command, why) => {
  expect(wordsOf(command)).toEqual({ kind: 'complex', why: expect.stringContaining(why) })
})

test('a simple command has the very words that bash gives the program', () => {
  const piece = fc.constantFrom(
    'a',
    'B',
    '-x',
    ' ',
    '  ',
    "'",
    '"',
    '\\',
    ';',
    '$',
    '*',
    '=',
    '\n',
    '\t',
    'ü',
    '/',
    '.',
    ':',
    '%',
    ',',
    '^',
    '+',
    '@',
  )
  const commands = fc.array(piece, { minLength: 1, maxLength: 12 }).map((parts) => `p${parts.join('')}`)
  const simple: string[][] = []
  const texts: string[] = []
  fc.assert(
    fc.property(commands, (command) => {
      const parsed = wordsOf(command)
      if (parsed.kind !== 'simple') return
      simple.push(parsed.words)
      texts.push(command)
    }),
    { numRuns: 2_000, seed: 20 },
  )
  expect(texts.length).toBeGreaterThan(100)
  // Each text becomes the arguments of a function, printed with an end that none of them has.
  const script = ['show() { printf "%s\\1" "$@"; printf "\\2"; }', ...texts.map((text) => `show ${text}`)].join('\n')
  const printed = execFileSync('bash', ['--noprofile', '--norc', '-c', script], { encoding: 'utf8' })
  const seen = printed
    .split('\u0002')
    .slice(0, -1)
    .map((line) => line.split('\u0001').slice(0, -1))
  expect(seen).toEqual(simple)
})
