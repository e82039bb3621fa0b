import { newId } from '../wire/ids.ts'
import type { Usage } from '../wire/messages.ts'
import type { Probe } from '../wire/models.ts'
import { baseCards } from './adapters/cards.ts'
import type { ProviderConfig, ProviderDeps } from './adapters/config.ts'
import { discover, type Discovery } from './adapters/discover.ts'
import { refuseKeylessHeader } from './adapters/headers.ts'
import { readKey } from './adapters/key.ts'
import { providerRoute } from './adapters/provider-route.ts'
import { assemble } from './retry.ts'
import { ModelError, type BuiltRequest, type Failure } from './port.ts'
import { ExchangeLog } from './probe-exchanges.ts'
import { advice, verdictOf } from './probe-words.ts'
import { classify } from './taxonomy.ts'

const LIMIT_MS = 30_000
const LIST_MS = 5_000
/** A model that was asked for one word and writes on is stopped here. */
const MAX_CHARS = 4_000

export interface ProbeOptions {
  model?: string
  /** Ms for the whole test; default 30 s. */
  limitMs?: number
  now?: () => number
}

/**
 * Asks a provider for its models, then for one streamed word, through the adapter that sessions use. Never rejects; what
 * went out and came back is in the exchanges, without any secret.
 */
export async function probeRoute(
  config: ProviderConfig,
  deps: ProviderDeps,
  { model, limitMs = LIMIT_MS, now = Date.now }: ProbeOptions = {},
): Promise<Probe> {
  const at = now()
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), limitMs)
  const log = new ExchangeLog(config, deps, now)
  const run: Run = { config, deps: { ...deps, fetch: log.fetch }, log, signal: controller.signal, limitMs }
  try {
    const { failure, list, model: tried } = await attempt(run, model)
    const verdict = failure ? verdictOf(failure, list) : 'works'
    return {
      verdict,
      message: log.scrub(advice(config, verdict, { failure, model: tried, limitMs })),
      ...(failure && { code: failure.code }),
      ...(tried !== undefined && { model: tried }),
      at,
      exchanges: log.done(),
    }
  } catch (error) {
    const failure = classify(error, { secrets: log.secrets })
    const message = log.scrub(advice(config, 'unknown', { failure, model, limitMs }))
    return { verdict: 'unknown', message, code: failure.code, at, exchanges: log.done() }
  } finally {
    clearTimeout(timer)
  }
}

interface Run {
  config: ProviderConfig
  deps: ProviderDeps
  log: ExchangeLog
  signal: AbortSignal
  limitMs: number
}

interface Outcome {
  failure?: Failure
  /** Why the list did not come. */
  list?: Failure
  model?: string
}

const NETWORK: ReadonlySet<string> = new Set(['dns', 'tls', 'refused', 'unreachable', 'connect-timeout'])

async function attempt(run: Run, asked: string | undefined): Promise<Outcome> {
  const { config, deps, log, signal } = run
  try {
    log.learn(await readKey(config, deps))
    refuseKeylessHeader(config)
  } catch (error) {
    return { failure: classify(error, { secrets: log.secrets }), ...(asked !== undefined && { model: asked }) }
  }
  const listed = await discover(config, deps, { signal, limitMs: Math.min(LIST_MS, run.limitMs) })
  const list = 'failure' in listed ? listed.failure : undefined
  log.end('list' in listed ? counted(listed.list.models.size) : (list?.message ?? 'no list'))
  if (list && signal.aborted) return { failure: late(list) }
  // A second look at a door that is not there tells nothing more.
  if (list?.transport && NETWORK.has(list.transport)) return { failure: list, list }
  const model = asked ?? choose(config, listed)
  if (model === undefined) return { failure: list ?? noModel(config), ...(list && { list }) }
  const failure = await oneWord(run, model)
  return { model, ...(list && { list }), ...(failure && { failure }) }
}

const counted = (models: number): string => (models === 1 ? '1 model' : `${models} models`)

/** A model that is listed here and offered there; else any of them. */
function choose(config: ProviderConfig, listed: Discovery): string | undefined {
  const own = baseCards(config).map(({ id }) => id)
  const offered = 'list' in listed ? listed.list.models : new Map<string, unknown>()
  return own.find((id) => offered.has(id)) ?? own[0] ?? offered.keys().next().value
}

const noModel = (config: ProviderConfig): Failure => ({
  code: 'UNKNOWN_MODEL',
  message: `${config.label} lists no model.`,
})

const late = (failure: Failure): Failure => (failure.code === 'ABORTED' ? { ...failure, code: 'TIMEOUT' } : failure)

async function oneWord({ config, deps, log, signal }: Run, model: string): Promise<Failure | undefined> {
  const stop = new AbortController()
  const request: BuiltRequest = {
    system: '',
    messages: [
      {
        id: newId(),
        role: 'user',
        content: [{ type: 'text', text: 'Reply with the word OK.' }],
        source: { kind: 'user' },
      },
    ],
    tools: [],
    signal: AbortSignal.any([signal, stop.signal]),
    sessionId: 'connection-test',
    lane: 'test',
    turn: 0,
    step: 0,
    attempt: 1,
  }
  try {
    const call = await providerRoute(config, deps).prepare({ provider: config.id, model }, signal)
    const stream = call.stream.bind(call)
    let written = 0
    const bounded: typeof call = {
      ...call,
      stream: async function* (asked) {
        for await (const event of stream(asked)) {
          if (event.t === 'delta' && (written += event.s.length) > MAX_CHARS) stop.abort()
          yield event
        }
      },
    }
    const { finish, blocks, usage } = await assemble(bounded, request)
    const cut = finish.kind === 'aborted' && stop.signal.aborted
    if (cut || (finish.kind !== 'error' && finish.kind !== 'aborted')) {
      log.end(told(blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''), usage))
      return undefined
    }
    const failure = signal.aborted ? late(finish.failure) : finish.failure
    log.end(failure.message)
    return failure
  } catch (error) {
    const failure = error instanceof ModelError ? error.failure : classify(error, { signal, secrets: log.secrets })
    log.end(failure.message)
    return signal.aborted ? late(failure) : failure
  }
}

/** One line: the words, then the counts that the provider reported. */
function told(text: string, usage: Usage = {}): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200) || 'an answer without text'
  const input = [usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens].filter(
    (count) => count !== undefined,
  )
  return [
    line,
    ...(input.length > 0 ? [`${input.reduce((sum, count) => sum + count, 0)} tokens in`] : []),
    ...(usage.outputTokens === undefined ? [] : [`${usage.outputTokens} tokens out`]),
  ].join(' · ')
}
