import { ModelError } from '../port.ts'
import type { ProviderConfig } from './config.ts'

const KEY = '{{key}}'

export interface HeaderValues {
  sessionId: string
  lane: string
}

/**
 * Headers of one request. Those that name the key are set last, under their own name, and the wire's own key header is
 * left out then: the key goes where the settings put it, and nowhere else.
 */
export function callHeaders(
  { config, apiKey }: { config: ProviderConfig; apiKey: string | undefined },
  { sessionId, lane }: HeaderValues,
  keyHeaders: readonly string[],
): { headers: { [name: string]: string }; dropHeaders: readonly string[]; setHeaders: { [name: string]: string } } {
  const all = Object.entries(config.headers ?? {})
  const fill = (value: string): string =>
    // Functions, since `$` in a key would be a pattern of the replacement.
    value.replaceAll('{{session}}', () => sessionId).replaceAll('{{lane}}', () => lane)
  const filled = (entries: [string, string][]) =>
    Object.fromEntries(entries.map(([name, value]) => [name, fill(value)]))
  const keyed = all.filter(([, value]) => value.includes(KEY))
  const setHeaders = Object.fromEntries(
    Object.entries(filled(keyed)).map(([name, value]) => [name, value.replaceAll(KEY, () => apiKey ?? '')]),
  )
  return {
    headers: filled(all.filter(([, value]) => !value.includes(KEY))),
    dropHeaders: apiKey === undefined || keyed.length > 0 ? keyHeaders : [],
    setHeaders,
  }
}

/** Throws ModelError INVALID_REQUEST for a header that names the key of a route that has none. */
export function refuseKeylessHeader(config: ProviderConfig): void {
  if (config.apiKeyRef !== undefined) return
  const name = Object.entries(config.headers ?? {}).find(([, value]) => value.includes(KEY))?.[0]
  if (name === undefined) return
  throw new ModelError({
    code: 'INVALID_REQUEST',
    message: `${config.label} is set to need no key, but its header "${name}" asks for one with {{key}}. Store a key or change the header in Settings > Models.`,
  })
}
