import { CoreError } from '../wire/errors.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'

/** A provider of a person's own, as the state table keeps it. */
export type StoredProvider = {
  id: string
  label: string
  wire: 'chat' | 'responses' | 'messages' | 'gemini'
  baseURL: string
  keyless: boolean
  /** Absent: the endpoint is asked for its list. */
  models?: string[]
}

export const configOf = ({ id, label, wire, baseURL, keyless, models = [] }: StoredProvider): ProviderConfig => ({
  id,
  label,
  wire,
  baseURL,
  ...(!keyless && { apiKeyRef: id }),
  ...(models.length === 0 && { discover: true }),
  ...(models.length > 0 && {
    models: models.map((model) => ({ id: model, name: model, inputs: ['text'], reasoning: false, efforts: [] })),
  }),
})

/** Refuses an address that no request could be made of, or that would show a secret in the list. Throws `provider/invalid`. */
export function checkBaseURL(provider: string, text: string): void {
  const refuse = (why: string) => new CoreError('provider/invalid', `The base URL ${why}`, { provider })
  if (!URL.canParse(text)) throw refuse('is not an address. Enter it whole, like https://api.example.com/v1.')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('must begin with https:// or http://.')
  if (url.username || url.password) throw refuse('must not contain a user name or password. Store the key instead.')
  if (url.search || url.hash) throw refuse('must end with a path: paths of the API are put behind it.')
}
