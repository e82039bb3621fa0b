import type { ProviderConfig, ProviderDeps } from './config.ts'

const DISCOVERY_MS = 5000

/** Ids of `GET <baseURL>/models`; an endpoint that does not answer lists nothing, since a catalog never refuses. */
export async function discoverIds(config: ProviderConfig, deps: ProviderDeps, apiKey?: string): Promise<string[]> {
  const send = deps.fetch ?? fetch
  try {
    const response = await send(`${config.baseURL.replace(/\/+$/, '')}/models`, {
      headers: { ...config.headers, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
      signal: AbortSignal.timeout(DISCOVERY_MS),
    })
    if (!response.ok) return []
    const body = (await response.json()) as { data?: { id?: unknown }[]; models?: { name?: unknown }[] }
    const ids = (body.data ?? []).map(({ id }) => id)
    return ids.filter((id) => typeof id === 'string').sort()
  } catch {
    return [] // offline, refused, not JSON: the person still may type an id
  }
}
