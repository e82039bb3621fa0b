import type { CommandResults } from '../wire/commands.ts'
import { newId } from '../wire/ids.ts'
import type { Route } from '../model/port.ts'

export interface TestFailure {
  code: string
  message: string
  status?: number
}

/** One real call of one word, through the same adapter that sessions use; given up after `limitMs`. Never rejects. */
export async function oneWord(
  route: Route,
  model: string,
  limitMs: number,
): Promise<{ text: string } | { failure: TestFailure }> {
  const signal = AbortSignal.timeout(limitMs)
  const late: TestFailure = { code: 'TIMEOUT', message: `${route.label} did not answer within ${limitMs / 1000} s.` }
  let text = ''
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
      if (event.t === 'delta') text += event.s
      if (event.t === 'end' && (event.finish.kind === 'error' || event.finish.kind === 'aborted'))
        return { failure: signal.aborted ? late : factsOf(event.finish.failure) }
    }
    return { text }
  } catch (error) {
    if (signal.aborted) return { failure: late }
    const { failure } = error as { failure?: TestFailure }
    return { failure: failure ? factsOf(failure) : { code: 'UNKNOWN', message: (error as Error).message } }
  }
}

const factsOf = ({ code, message, status }: TestFailure): TestFailure => ({
  code,
  message,
  ...(status !== undefined && { status }),
})

type Result = CommandResults['provider.test']

/** What a person reads of the test: who was asked, what came back, how long it took. */
export function testResult(outcome: Awaited<ReturnType<typeof oneWord>>, asked: Result['asked'], ms: number): Result {
  if ('text' in outcome)
    return {
      ok: true,
      message: `${asked.model} answered in ${ms} ms.`,
      asked,
      answered: { ms, text: outcome.text.slice(0, 200) },
    }
  const { status, ...failure } = outcome.failure
  return { ok: false, ...failure, asked, answered: { ms, ...(status !== undefined && { status }) } }
}
