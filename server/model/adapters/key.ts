import { ModelError } from '../port.ts'
import type { ProviderConfig, ProviderDeps } from './config.ts'

/** What a request header can carry (1.12). */
const KEY_FORMAT = /^[\x21-\x7e]+$/

/** The key of a route, read at call time; undefined where none is needed. Throws ModelError MISSING_CREDENTIAL or INVALID_CREDENTIAL. */
export async function readKey(config: ProviderConfig, deps: ProviderDeps): Promise<string | undefined> {
  if (config.apiKeyRef === undefined) return undefined
  // A key that a person stored for this provider wins over a reference to the environment.
  const key = (await deps.credentials.get(config.id)) ?? (await deps.credentials.get(config.apiKeyRef))
  if (!key) {
    const [, name] = /^env:(.*)$/.exec(config.apiKeyRef) ?? []
    const where = name === undefined ? 'Add one' : `Set the environment variable ${name}, or store a key`
    const message = `${config.label} has no API key. ${where} in Settings > Models.`
    throw new ModelError({ code: 'MISSING_CREDENTIAL', message })
  }
  if (KEY_FORMAT.test(key)) return key
  throw new ModelError({
    code: 'INVALID_CREDENTIAL',
    message: `The API key of ${config.label} has characters that no request can carry (blanks, line ends or letters outside ASCII). Enter it again.`,
  })
}
