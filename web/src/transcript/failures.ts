import type { TurnError } from '../../../server/wire/events.ts'
import { en } from '../i18n/en.ts'
import type { Key } from '../i18n/i18n.ts'

/** What can be done about a failure, beside trying again. */
export type Way = 'again' | 'pick' | 'key' | 'provider' | 'fork' | 'limit'

const known = (key: string): key is Key => key in en

/** The sentence for a failure; the kind of a broken connection says more than its code. */
export function sentenceOf({ code, transport }: TurnError): Key | undefined {
  const key = `error.${transport ?? code}`
  return known(key) ? key : undefined
}

/** The same in a few words, for a row. */
export function wordsOf({ code, transport }: TurnError): Key | undefined {
  const key = `why.${transport ?? code}`
  return known(key) ? key : undefined
}

const WAYS: { readonly [code: string]: readonly Way[] } = {
  AUTH: ['key', 'again', 'pick'],
  MISSING_CREDENTIAL: ['key', 'pick', 'again'],
  INVALID_CREDENTIAL: ['key', 'pick', 'again'],
  QUOTA: ['again', 'pick', 'provider'],
  RATE_LIMIT: ['again', 'pick', 'provider'],
  UNKNOWN_MODEL: ['pick', 'again', 'provider'],
  NO_ADAPTER: ['pick', 'provider', 'again'],
  CONTEXT_WINDOW_EXCEEDED: ['fork', 'pick', 'again'],
  UNSUPPORTED_CONTENT: ['pick', 'fork', 'again'],
  UNSUPPORTED_REASONING_EFFORT: ['pick', 'again'],
  CONTENT_FILTER: ['again', 'pick', 'fork'],
  BUDGET_EXCEEDED: ['limit'],
}

/** The first is the likeliest to help. */
export const waysOf = ({ code }: TurnError): readonly Way[] => WAYS[code] ?? ['again', 'pick', 'provider']
