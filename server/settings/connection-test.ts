import { newId } from '../wire/ids.ts'
import type { Probe } from '../wire/models.ts'
import type { Route } from '../model/port.ts'

/** One call of one word through a route that has no endpoint of its own: a demo, a replay. Never rejects. */
export async function oneWord(route: Route, model: string, limitMs: number, now: () => number): Promise<Probe> {
  const signal = AbortSignal.timeout(limitMs)
  const told = (probe: Pick<Probe, 'verdict' | 'message' | 'code'>): Probe => ({
    ...probe,
    model,
    at: now(),
    exchanges: [],
  })
  const late = (): Probe =>
    told({ verdict: 'timeout', code: 'TIMEOUT', message: `${route.label} did not answer within ${limitMs / 1000} s.` })
  try {
    const call = await route.prepare({ provider: route.id, model, maxTokens: 16 }, signal)
    const content = [{ type: 'text' as const, text: 'Reply with the word OK.' }]
    const stream = call.stream({
      system: '',
      messages: [{ id: newId(), role: 'user', content, source: { kind: 'user' } }],
      tools: [],
      signal,
      sessionId: 'connection-test',
      lane: 'test',
      turn: 0,
      step: 0,
      attempt: 1,
    })
    for await (const event of stream) {
      if (event.t !== 'end' || (event.finish.kind !== 'error' && event.finish.kind !== 'aborted')) continue
      const { code, message } = event.finish.failure
      return signal.aborted ? late() : told({ verdict: 'unknown', code, message })
    }
    return told({ verdict: 'works', message: `${route.label} answered. Nothing left this machine.` })
  } catch (error) {
    if (signal.aborted) return late()
    const { failure, message } = error as { failure?: { code: string }; message: string }
    return told({ verdict: 'unknown', code: failure?.code ?? 'UNKNOWN', message })
  }
}
