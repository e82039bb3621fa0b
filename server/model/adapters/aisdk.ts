import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Finish, StreamEvent } from '../port.ts'
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
export async function* streamModel(
  bind: () => Promise<BoundModel>,
  parts: PartsOptions,
  onEnd?: (finish: Finish) => void,
): AsyncGenerator<StreamEvent> {
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
  try {
    while (true) {
      const last = out.at(-1)
      if (last?.t === 'end') onEnd?.(last.finish)
      for (const event of out) yield event
      out.length = 0
      if (!reader || !bound || mapper.ended) return
      try {
        take(await reader.read(), { bound, mapper, out })
      } catch (error) {
        mapper.fail(out, error)
      }
    }
  } finally {
    reader?.cancel().catch(() => undefined) // the call is over: an error while closing changes nothing
  }
}

interface Sink {
  bound: BoundModel
  mapper: PartMapper
  out: StreamEvent[]
}

function take(
  { done, value }: Awaited<ReturnType<ReadableStreamDefaultReader<PartOf>['read']>>,
  { bound, mapper, out }: Sink,
): void {
  const signal = bound.options.abortSignal
  if (signal?.aborted) return mapper.fail(out, signal.reason)
  if (done) return mapper.close(out)
  mapper.map(value, out)
  if (!bound.takeTokens || mapper.ended || out.length === 0) return
  for (const tokens of bound.takeTokens()) out.push({ t: 'tokens', i: mapper.current, ...tokens })
}

type PartOf = Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never
