import { describe, expect, test } from 'vitest'
import { WIRES } from '../mock-llm/rig.ts'
import type { Behavior, Reply } from '../mock-llm/reply.ts'
import { codeOf, isSentence, messageOf, rigged, WORKS } from './rig.ts'

const rig = rigged()

/** How a turn ends under one fault, how often the provider was asked under a policy of one retry. */
interface Case {
  fault: Behavior
  end: string
  requests: number
  patch?: Reply
}

const REFUSED: Case[] = [
  { fault: 'auth_error', end: 'AUTH', requests: 1 },
  { fault: 'forbidden', end: 'AUTH', requests: 1 },
  { fault: 'unknown_model', end: 'UNKNOWN_MODEL', requests: 1 },
  { fault: 'payload_too_large', end: 'INVALID_REQUEST', requests: 1 },
  { fault: 'invalid_request', end: 'INVALID_REQUEST', requests: 1 },
  { fault: 'context_overflow', end: 'CONTEXT_WINDOW_EXCEEDED', requests: 1 },
  { fault: 'quota_exceeded', end: 'QUOTA', requests: 1 },
  // Two seconds asked for, ten milliseconds allowed: giving up is told, waiting in secret is not.
  { fault: 'rate_limit', end: 'RATE_LIMIT', requests: 1 },
  { fault: 'rate_limit_bare', end: 'RATE_LIMIT', requests: 2 },
  { fault: 'rate_limit_bare', end: 'RATE_LIMIT', requests: 2, patch: { headers: { 'retry-after': '0' } } },
  { fault: 'server_error', end: 'SERVER', requests: 2 },
  { fault: 'bad_gateway', end: 'SERVER', requests: 2 },
  { fault: 'overloaded', end: 'SERVER', requests: 2 },
  { fault: 'html_error', end: 'SERVER', requests: 2 },
]
const BROKEN: Case[] = [
  { fault: 'connection_reset', end: 'TRANSPORT', requests: 2 },
  { fault: 'partial_disconnect', end: 'TRANSPORT', requests: 2 },
  { fault: 'stream_eof', end: 'STREAM_CLOSED', requests: 2 },
  { fault: 'partial_eof', end: 'STREAM_CLOSED', requests: 2 },
  { fault: 'empty_body', end: 'MALFORMED_RESPONSE', requests: 2 },
  { fault: 'malformed_json', end: 'MALFORMED_RESPONSE', requests: 2 },
  { fault: 'html_200', end: 'MALFORMED_RESPONSE', requests: 2 },
  { fault: 'huge_headers', end: 'MALFORMED_RESPONSE', requests: 2 },
  { fault: 'error_first_event', end: 'SERVER', requests: 2 },
  { fault: 'error_mid_stream', end: 'SERVER', requests: 2 },
  { fault: 'empty', end: 'EMPTY_RESPONSE', requests: 2 },
  { fault: 'refusal', end: 'CONTENT_FILTER', requests: 1 },
  { fault: 'content_filter', end: 'CONTENT_FILTER', requests: 1 },
]
const title = ({ fault, patch }: Case) => (patch ? `${fault} ${JSON.stringify(patch)}` : fault)

describe.each(WIRES)('over %s', (wire) => {
  test.each([...REFUSED, ...BROKEN].map((item) => [title(item), item] as const))(
    'B61 %s ends the turn as the taxonomy says, and the next prompt works',
    async (_title, { fault, end, requests, patch }) => {
      const reply = { behavior: fault, ...patch }
      const run = await rig.run(
        { wire },
        Array.from({ length: requests }, () => reply),
      )
      expect(codeOf(run.reason)).toBe(end)
      expect(run.requests).toHaveLength(requests)
      expect(messageOf(run.reason)).toSatisfy(isSentence)
      const retries = rig.client.events(run.session).filter((event) => event.type === 'llm/retry')
      expect(retries).toHaveLength(requests - 1)
      expect(await rig.next(run.session)).toEqual(WORKS)
    },
  )

  test('a fault that passes costs one more request and nothing of the turn', async () => {
    const run = await rig.run({ wire }, [{ behavior: 'partial_disconnect', text: 'Lost.' }, { text: 'Kept.' }])
    expect(run.reason).toEqual({ kind: 'completed' })
    expect(run.requests).toHaveLength(2)
    // The broken answer is in the log, and in no later request.
    expect(run.requests[1]!.body).toEqual(run.requests[0]!.body)
    const attempts = rig.client.events(run.session).filter((event) => event.type === 'assistant/attempt')
    expect(attempts).toHaveLength(1)
    expect(await rig.next(run.session)).toEqual(WORKS)
    expect(rig.requests(run.session).at(-1)!.raw).not.toContain('Lost.')
  })
})

test('a wait that the provider asks for is kept to and told', async () => {
  const asked = { behavior: 'rate_limit_bare' as const, headers: { 'retry-after-ms': '7' } }
  const run = await rig.run({}, [asked, { text: 'Thank you.' }])
  expect(run.reason).toEqual({ kind: 'completed' })
  const retry = await rig.client.event(run.session, 'llm/retry')
  expect(retry.data).toMatchObject({ attempt: 1, code: 'RATE_LIMIT', delayMs: 7 })
})

test('a wrong content type around a right answer is no fault', async () => {
  for (const wire of WIRES) {
    const run = await rig.run({ wire }, [{ behavior: 'wrong_content_type' }])
    expect({ wire, reason: run.reason, asked: run.requests.length }).toEqual({
      wire,
      reason: { kind: 'completed' },
      asked: 1,
    })
  }
})
