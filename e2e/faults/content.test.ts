import { describe, expect, test } from 'vitest'
import { WIRES } from '../mock-llm/rig.ts'
import { judge } from '../tapes/judge.ts'
import type { LogEvent } from '../../server/wire/events.ts'
import { rigged, WORKS } from './rig.ts'

const rig = rigged()

const answers = (session: string): LogEvent<'assistant/message'>[] =>
  rig.client
    .events(session)
    .filter((event): event is LogEvent<'assistant/message'> => event.type === 'assistant/message')
const callsIn = (session: string) =>
  answers(session).flatMap(({ data }) => data.message.content.filter((block) => block.type === 'tool-call'))
const results = (session: string) =>
  rig.client.events(session).filter((event): event is LogEvent<'tool/result'> => event.type === 'tool/result')

describe.each(WIRES)('over %s', (wire) => {
  test.each(['duplicate_ids', 'missing_ids'] as const)(
    'calls with %s both run, each with its own result',
    async (behavior) => {
      const run = await rig.run({ wire }, [{ behavior }, { text: 'Both.' }])
      expect(run.reason).toEqual({ kind: 'completed' })
      expect(run.requests).toHaveLength(2)
      expect(judge(wire, run.requests[1]!.body)).toEqual([])
      const ids = callsIn(run.session).map(({ id }) => id)
      expect(new Set(ids).size).toBe(2)
      expect(results(run.session).map(({ data }) => data.message.source)).toEqual(
        ids.map((callId) => ({ kind: 'tool', callId })),
      )
      expect(await rig.next(run.session)).toEqual(WORKS)
    },
  )

  test('an answer that ends inside a call is not run as if it were whole, and the model is told', async () => {
    const run = await rig.run({ wire }, [{ behavior: 'max_tokens_in_call' }, { text: 'Again, shorter.' }])
    expect(run.reason).toEqual({ kind: 'max-tokens' })
    expect(run.requests).toHaveLength(2)
    expect(judge(wire, run.requests[1]!.body)).toEqual([])
    const [result] = results(run.session)
    expect(result!.data.message.content).toMatchObject([{ type: 'tool-result', isError: true }])
    expect(await rig.next(run.session)).toEqual(WORKS)
  })

  test('arguments of 200 KB arrive whole, run, and go back byte for byte', async () => {
    const run = await rig.run({ wire }, [{ behavior: 'huge_tool_args' }, { text: 'Long.' }])
    expect(run.reason).toEqual({ kind: 'completed' })
    expect(run.requests).toHaveLength(2)
    const [call] = callsIn(run.session)
    expect(call!.arguments.length).toBeGreaterThan(200_000)
    expect(JSON.parse(call!.arguments)).toEqual({ command: `true ${'x'.repeat(200_000)}` })
    expect(run.requests[1]!.raw).toContain('x'.repeat(200_000))
    expect(await rig.next(run.session)).toEqual(WORKS)
  })

  test('an answer of 5 MB is kept, shown in pieces, and sent back', async () => {
    const run = await rig.run({ wire }, [{ behavior: 'five_megabytes' }])
    expect(run.reason).toEqual({ kind: 'completed' })
    expect(run.requests).toHaveLength(1)
    const [block] = answers(run.session)[0]!.data.message.content
    expect(block).toMatchObject({ type: 'text' })
    expect(block?.type === 'text' && block.text.length).toBe(5_250_000)
    expect(await rig.next(run.session)).toEqual(WORKS)
    expect(rig.requests(run.session)[1]!.raw.length).toBeGreaterThan(5_250_000)
  })

  test('a server that goes on sending after a stop is left behind at once', async () => {
    const session = await rig.session({ wire })
    rig.mock.script(session, [{ behavior: 'ignores_cancel' }])
    await rig.client.command('session.prompt', { session, text: 'Go.' })
    await rig.client.until((frame) => frame.t === 'delta' && frame.session === session)
    expect(await rig.client.command('session.stop', { session })).toEqual({ stopped: true })
    expect((await rig.client.turnEnd(session, 1)).data.reason).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
    const [request] = rig.requests(session)
    expect((await request!.closed).completed).toBe(false)
    expect(await rig.next(session)).toEqual(WORKS)
  })
})

test('a server without a key is asked without one', async () => {
  for (const wire of WIRES) {
    const run = await rig.run({ wire, key: 'none' }, [{ text: 'Come in.' }])
    expect({ wire, reason: run.reason }).toEqual({ wire, reason: { kind: 'completed' } })
    const { headers } = run.requests[0]!
    expect(Object.keys(headers).filter((name) => /^(authorization|x-api-key|x-goog-api-key)$/.test(name))).toEqual([])
  }
})
