import type { WireFamily } from '../../wire/messages.ts'
import { never } from '../../wire/never.ts'
import { ModelError, type ModelCard } from '../port.ts'
import type { EndpointModel } from './cards.ts'

const MAX_MODELS = 2000
const MAX_ID = 256

type Row = { [key: string]: unknown }

/** The rows of a list of models by id, sorted, 2,000 at most; rows without an id are passed over. Throws ModelError MALFORMED_RESPONSE for what is no list. */
export function readModels(wire: WireFamily, body: unknown): Map<string, EndpointModel> {
  const list = object(body)[wire === 'gemini' ? 'models' : 'data']
  if (!Array.isArray(list)) {
    const message =
      'The address answers, but not with a list of models. Check it, up to and including the version part.'
    throw new ModelError({ code: 'MALFORMED_RESPONSE', message })
  }
  const models = list.map((row) => readRow(wire, object(row))).filter((model) => model !== undefined)
  models.sort((a, b) => (a.id < b.id ? -1 : 1))
  return new Map(models.slice(0, MAX_MODELS).map((model) => [model.id, model]))
}

function readRow(wire: WireFamily, row: Row): EndpointModel | undefined {
  switch (wire) {
    case 'chat':
    case 'responses':
      return told(row.id, { ...chatFacts(row), name: row.name ?? row.display_name })
    case 'messages':
      return told(row.id, {
        name: row.display_name,
        contextWindow: whole(row.max_input_tokens),
        maxOutput: whole(row.max_tokens),
      })
    case 'gemini': {
      const methods = row.supportedGenerationMethods
      if (Array.isArray(methods) && !methods.includes('generateContent')) return undefined
      return told(typeof row.name === 'string' ? row.name.replace(/^models\//, '') : undefined, {
        name: row.displayName,
        contextWindow: whole(row.inputTokenLimit),
        maxOutput: whole(row.outputTokenLimit),
        reasoning: flag(row.thinking),
      })
    }
    default:
      return never(wire)
  }
}

/** OpenRouter's words, and those under which vLLM, Groq, Mistral and others tell the window. */
function chatFacts(row: Row): { [K in keyof EndpointModel]?: unknown } {
  const provider = object(row.top_provider)
  const windows = [
    provider.context_length,
    row.context_length,
    row.context_window,
    row.max_model_len,
    row.max_context_length,
  ]
  const parameters = row.supported_parameters
  return {
    contextWindow: windows.map(whole).find((size) => size !== undefined),
    maxOutput:
      whole(provider.max_completion_tokens) ?? whole(row.max_completion_tokens) ?? whole(row.max_output_tokens),
    inputs: modalities(object(row.architecture).input_modalities),
    reasoning: Array.isArray(parameters) ? parameters.includes('reasoning') : undefined,
    price: price(object(row.pricing)),
  }
}

function told(id: unknown, facts: { [K in keyof EndpointModel]?: unknown }): EndpointModel | undefined {
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID) return undefined
  const { name, ...rest } = facts
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return { ...known, id, ...(typeof name === 'string' && name !== '' && { name: name.slice(0, MAX_ID) }) }
}

function modalities(value: unknown): ModelCard['inputs'] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.includes('image') ? ['text', 'image'] : ['text']
}

/** Dollars per token, as text, to dollars per million. A router's -1 stands for "depends" and is no price. */
function price(pricing: Row): ModelCard['price'] {
  const [input, output] = [perMillion(pricing.prompt), perMillion(pricing.completion)]
  if (input === undefined || output === undefined) return undefined
  const [cacheRead, cacheWrite] = [perMillion(pricing.input_cache_read), perMillion(pricing.input_cache_write)]
  return {
    in: input,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    out: output,
  }
}

function perMillion(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  if (value === '') return undefined
  const perToken = Number(value)
  // Twelve digits take the noise of the multiplication off again.
  return Number.isFinite(perToken) && perToken >= 0 ? Number((perToken * 1e6).toPrecision(12)) : undefined
}

const whole = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
const flag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)
const object = (value: unknown): Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {}
