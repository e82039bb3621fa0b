import { matchesGlob } from 'node:path'
import { never } from '../wire/never.ts'
import type { Rule } from '../wire/safety.ts'
import { wordsOf } from './words.ts'

/** What rules are held against. `paths` are real ones. */
export interface Subject {
  toolName: string
  command?: string
  paths: readonly string[]
}

/** `unclear`: the rule is about commands like this one, and the text is too much for it to judge. */
export type Match = { kind: 'yes' } | { kind: 'no' } | { kind: 'unclear'; why: string }

const YES: Match = { kind: 'yes' }
const NO: Match = { kind: 'no' }

/** `*` stands for any run of characters. */
const wildcard = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 's').test(text)

/**
 * Prefix rules compare whole words of a single simple command, or whole folders of a path; glob rules the whole command, words
 * joined by a blank, or the whole path. Of several paths a permission needs all, a prohibition one.
 */
export function matches(rule: Pick<Rule, 'effect' | 'tool' | 'match'>, subject: Subject): Match {
  if (!wildcard(rule.tool, subject.toolName)) return NO
  const { match } = rule
  if (!match) return YES
  if (subject.command !== undefined) return commandMatch(match, subject.command)
  if (subject.paths.length === 0) return NO
  const fits = (path: string) => pathFits(match, path)
  return (rule.effect === 'allow' ? subject.paths.every(fits) : subject.paths.some(fits)) ? YES : NO
}

function commandMatch(match: NonNullable<Rule['match']>, command: string): Match {
  const parsed = wordsOf(command)
  if (parsed.kind === 'complex') return { kind: 'unclear', why: parsed.why }
  const { words } = parsed
  switch (match.kind) {
    case 'glob':
      return wildcard(match.text, words.join(' ')) ? YES : NO
    case 'prefix': {
      const wanted = wordsOf(match.text)
      if (wanted.kind === 'complex') return NO
      return wanted.words.every((word, index) => words[index] === word) ? YES : NO
    }
    default:
      return never(match.kind)
  }
}

function pathFits({ kind, text }: NonNullable<Rule['match']>, path: string): boolean {
  if (kind === 'glob') return matchesGlob(path, text)
  const folder = text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

/** Why a rule can never match anything; undefined for one that may. */
export function ruleProblem({ match, tool }: Pick<Rule, 'tool' | 'match'>): string | undefined {
  if (tool.trim() === '') return 'a rule names a tool, or * for all'
  if (match?.kind !== 'prefix' || match.text.startsWith('/')) return undefined
  const words = wordsOf(match.text)
  return words.kind === 'simple' ? undefined : `the beginning of a command is plain words: ${words.why}`
}
