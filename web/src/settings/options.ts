import type { JsonObject } from '../../../server/wire/json.ts'
import type { RouteOptions } from '../../../server/wire/models.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { get } from '../store/store.ts'
import { faultLine } from './json-fault.ts'

/** Fields of a route to put in place; `undefined` takes one out. */
export type OptionChanges = { [K in keyof RouteOptions]?: RouteOptions[K] | undefined }

/** Without the fields that say nothing: an absent one takes its default, an empty one would be a setting. */
export function mergedOptions(before: RouteOptions, changes: OptionChanges): RouteOptions {
  const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => !isNothing(value))
  return Object.fromEntries(merged) as RouteOptions
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === '') return true
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value).length === 0
}

/** Options as the host has them now: a section saves its own fields and leaves those of others as they are. */
export function currentOptions(id: string): RouteOptions {
  return get().global?.models.providers.find((provider) => provider.id === id)?.settings?.options ?? {}
}

export type Parsed<T> = { ok: true; value: T } | { ok: false; message: string; line?: number }

/** The text of an object, or what is wrong with it and on which line; an empty text is no object at all. */
export function parseObject(text: string): Parsed<JsonObject | undefined> {
  if (text.trim() === '') return { ok: true, value: undefined }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { ok: true, value: value as JsonObject }
    return { ok: false, message: '{ }', line: 1 }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    return { ok: false, message: message.replace(/(, "| in JSON at position).*$/s, ''), line: faultLine(text) }
  }
}

export const prettyJson = (value: unknown): string =>
  value === undefined || value === null ? '' : JSON.stringify(value, null, 2)

/** A field of seconds as milliseconds; empty takes the default, what is no time is `NaN`. */
export function millisecondsOf(text: string): number | undefined {
  if (text.trim() === '') return undefined
  const seconds = Number(text.trim().replace(',', '.'))
  return seconds >= 0 ? Math.round(seconds * 1000) : Number.NaN
}

export const secondsText = (ms: number | undefined): string => (ms === undefined ? '' : String(ms / 1000))

/** A field of a whole number or of money; empty is absent, what is no number is `NaN`. */
export function numberOf(text: string): number | undefined {
  const plain = text.trim().replace(/[\s_]/g, '')
  return plain === '' ? undefined : Number(plain)
}

export const numberText = (value: number | undefined): string => (value === undefined ? '' : String(value))

export const listOf = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))]

/** A provider id made of a name: lower case, starting with a letter, 64 characters at most; empty when nothing is left. */
export const idOf = (label: string): string =>
  label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 60)

/** The same, and none that is taken. */
export function freeId(label: string, taken: readonly string[]): string {
  const id = idOf(label)
  if (id === '' || !taken.includes(id)) return id
  for (let n = 2; ; n++) if (!taken.includes(`${id}-${n}`)) return `${id}-${n}`
}

export function hostOf({ baseURL }: Pick<ProviderView, 'baseURL'>): string {
  if (baseURL === undefined) return ''
  return URL.canParse(baseURL) ? new URL(baseURL).host : baseURL
}

export const isAddress = (text: string): boolean => /^https?:\/\/\S+$/.test(text.trim()) && URL.canParse(text.trim())
