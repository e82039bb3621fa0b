import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { StreamEvent } from '../port.ts'
import { PartMapper, type PartsOptions } from './parts.ts'

/** One library model bound to one request, and the hooks that see what the library strips. */
export interface BoundModel {
  model: LanguageModelV4
  options: LanguageModelV4CallOptions
  parts: PartsOptions
  /** Token ids seen in raw chunks since the last call (LT-18). */
  takeTokens?(): { ids: number[]; logprobs?: number[] }[]
  /** What the history conversion had to leave out. */
  warnings?: StreamEvent[]
}

/**
 * Runs one call. Failures of selection, dispatch and iteration come as the one terminal `end` (LP-02); what the
 * consumer throws passes through. Leaving the loop early closes the connection.
 */
export async function* streamModel(bind: () => Promise<BoundModel>, parts: PartsOptions): AsyncGenerator<StreamEvent> {
  const out: StreamEvent[] = []
  let mapper = new PartMapper(parts)
  let reader: ReadableStreamDefaultReader<PartOf> | undefined
  let bound: BoundModel | undefined
  try {
    bound = await bind()
    mapper = new PartMapper(bound.parts)
    out.push(...(bound.warnings ?? []))
    reader = (await bound.model.doStream(bound.options)).stream.getReader()
  } catch (error) {
    mapper.fail(out, error)
  }
  const signal = bound?.options.abortSignal
  try {
    while (reader && !mapper.ended) {
      const step = await reader.read().catch((error: unknown) => ({ error }))
      if ('error' in step) mapper.fail(out, step.error)
      else if (signal?.aborted) mapper.fail(out, signal.reason)
      else if (step.done) mapper.close(out)
      else mapper.map(step.value, out)
      pushTokens(bound, mapper, out)
      if (out.length === 0) continue
      yield* out.splice(0)
    }
    yield* out
  } finally {
    reader?.cancel().catch(() => undefined) // the call is over: an error while closing changes nothing
  }
}

type PartOf = Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never

function pushTokens(bound: BoundModel | undefined, mapper: PartMapper, out: StreamEvent[]): void {
  if (!bound?.takeTokens || mapper.ended) return
  if (out.length === 0) return
  for (const tokens of bound.takeTokens()) out.push({ t: 'tokens', i: mapper.current, ...tokens })
}
