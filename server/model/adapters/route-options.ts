import type { ModelFactsEdit, ProviderSettings, RetryOptions } from '../../wire/models.ts'
import { catalogCards } from '../catalog.ts'
import { isLoopback } from '../loopback.ts'
import type { ModelCard, RetryPolicy } from '../port.ts'
import { ALWAYS_RETRY, NO_RETRY, NORMAL_RETRY } from '../retry.ts'
import { FIRST_BYTE_MS, IDLE_MS } from '../transport.ts'
import { unlisted } from './cards.ts'
import type { ProviderConfig } from './config.ts'

/**
 * One provider of the settings as its adapter takes it. `base` is what ships under this id; without one the provider is a
 * person's own, whose endpoint is asked for its models unless the settings list them. Pure: what the settings do not say
 * stays as `base` has it.
 */
export function providerConfig(settings: ProviderSettings, base?: ProviderConfig): ProviderConfig {
  const { id, label, wire, baseURL, key, options } = settings
  const { retry, models = [], facts, ...rest } = options
  const { apiKeyRef: _settings, ...kept }: Partial<ProviderConfig> = base ?? { discover: true }
  const config: ProviderConfig = {
    ...kept,
    ...said(rest),
    id,
    label,
    wire,
    baseURL,
    ...(key !== 'none' && { apiKeyRef: key === 'stored' ? id : key }),
    ...(retry && { retry: retryPolicy(retry) }),
    ...(facts && { modelOverrides: withFacts(kept.modelOverrides ?? {}, facts) }),
  }
  if (models.length === 0) return config
  // A person's own list stands in the place of the endpoint's, unless both are asked for.
  return { ...config, models: models.map((model) => cardOf(config, model)), discover: options.discover ?? false }
}

/** What is in force on a route. Times in ms; 0 waits for ever, as a server on this machine loads its model on the first call. */
export function routeDefaults(config: ProviderConfig): {
  retry: { mode: RetryPolicy['mode']; retries: number; baseMs: number; capMs: number }
  firstByteMs: number
  idleMs: number
  discover: boolean
} {
  const { mode, retries, baseMs, capMs } = config.retry ?? NORMAL_RETRY
  return {
    retry: { mode, retries, baseMs, capMs },
    firstByteMs: config.firstByteMs ?? (isLoopback(config.baseURL) ? 0 : FIRST_BYTE_MS),
    idleMs: config.idleMs ?? IDLE_MS,
    discover: config.discover ?? false,
  }
}

const POLICIES = { normal: NORMAL_RETRY, always: ALWAYS_RETRY, off: NO_RETRY }

function retryPolicy({ mode, ...numbers }: RetryOptions): RetryPolicy {
  return mode === 'off' ? NO_RETRY : { ...POLICIES[mode], ...said(numbers) }
}

function cardOf(config: ProviderConfig, id: string): ModelCard {
  const known = catalogCards(config.id).find((card) => card.id === id)
  return known ?? { ...unlisted(config, id), from: 'settings' }
}

type Overrides = NonNullable<ProviderConfig['modelOverrides']>

function withFacts(base: Overrides, facts: { [model: string]: ModelFactsEdit }): Overrides {
  const all: [string, Overrides[string]][] = Object.entries(base)
  for (const [model, edit] of Object.entries(facts)) {
    const merged = { ...(Object.hasOwn(base, model) ? base[model] : {}), ...said(edit) }
    const kept = Object.entries(merged).filter(([, value]) => value !== null)
    all.push([model, Object.fromEntries(kept)])
  }
  return Object.fromEntries(all)
}

const said = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T
