import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, ending, mockRoute, WIRES } from '../../../e2e/mock-llm/rig.ts'
import type { Behavior } from '../../../e2e/mock-llm/reply.ts'
import { startMock, type Mock } from '../../../e2e/mock-llm/server.ts'

let mock: Mock
beforeAll(async () => {
  mock = await startMock()
})
afterAll(() => mock.close())

describe.each(WIRES)('%s', (wire) => {
  const run = async (behavior: Behavior) => {
    const lane = `${wire}/${behavior}`
    mock.script(lane, [{ behavior }])
    return ask(mockRoute(mock, wire), { lane })
  }
  test('an answer with reasoning, text and two calls', async () => {
    const lane = `${wire}/full`
    mock.script(lane, [
      {
        reasoning: 'I think so.',
        text: 'Let me look — 日本 🙂.',
        toolCalls: [
          { name: 'bash', arguments: '{"command":"pwd"}' },
          { name: 'bash', arguments: '{"command":"ls"}' },
        ],
        splitBytes: 7,
      },
    ])
    const result = await ask(mockRoute(mock, wire), { lane })
    expect(result.finish).toEqual({ kind: 'tool-calls' })
    expect(result.blocks.map((block) => block.type)).toEqual(['reasoning', 'text', 'tool-call', 'tool-call'])
    expect(result.blocks).toMatchObject([
      { text: 'I think so.' },
      { text: 'Let me look — 日本 🙂.' },
      { arguments: '{"command":"pwd"}' },
      { arguments: '{"command":"ls"}' },
    ])
    expect(result.usage).toMatchObject({ inputTokens: 20, cacheReadTokens: 5, outputTokens: 9 })
    expect(result.requestId).toMatch(/^req_/)
    expect(result.warnings).toEqual([])
  })

  test.each<[Behavior, string]>([
    ['success', 'stop'],
    ['slow_success', 'stop'],
    ['reasoning_success', 'stop'],
    ['tool_call_success', 'tool-calls'],
    ['parallel_tools', 'tool-calls'],
    ['large_tool_args', 'tool-calls'],
    ['max_tokens', 'max-tokens'],
    ['content_filter', 'content-filter'],
    ['empty', 'EMPTY_RESPONSE'],
    ['empty_body', 'MALFORMED_RESPONSE'],
    ['stream_eof', 'STREAM_CLOSED'],
    ['partial_eof', 'STREAM_CLOSED'],
    ['connection_reset', 'TRANSPORT'],
    ['stream_disconnect', 'TRANSPORT'],
    ['partial_disconnect', 'TRANSPORT'],
    ['malformed_json', 'MALFORMED_RESPONSE'],
    ['malformed_event', 'MALFORMED_RESPONSE'],
    ['error_first_event', 'SERVER'],
    ['error_mid_stream', 'SERVER'],
    ['rate_limit', 'RATE_LIMIT'],
    ['server_error', 'SERVER'],
    ['service_unavailable', 'SERVER'],
    ['overloaded', 'SERVER'],
    ['auth_error', 'AUTH'],
    ['invalid_request', 'INVALID_REQUEST'],
    ['context_overflow', 'CONTEXT_WINDOW_EXCEEDED'],
    ['quota_exceeded', 'QUOTA'],
    ['unknown_model', 'UNKNOWN_MODEL'],
    ['wrong_content_type', 'stop'],
    ['html_200', 'MALFORMED_RESPONSE'],
    ['html_error', 'SERVER'],
    ['bad_gateway', 'SERVER'],
    ['forbidden', 'AUTH'],
    ['payload_too_large', 'INVALID_REQUEST'],
    ['rate_limit_bare', 'RATE_LIMIT'],
    ['refusal', 'content-filter'],
    ['duplicate_ids', 'tool-calls'],
    ['missing_ids', 'tool-calls'],
    ['huge_tool_args', 'tool-calls'],
    ['max_tokens_in_call', 'max-tokens'],
    ['five_megabytes', 'stop'],
    ['huge_headers', 'MALFORMED_RESPONSE'],
  ])('%s ends once, as %s', async (behavior, expected) => {
    const result = await run(behavior)
    expect(ending(result)).toBe(expected)
    expect(result.events.filter((event) => event.t === 'end')).toHaveLength(1)
    expect(result.events.at(-1)!.t).toBe('end')
    if (behavior === 'rate_limit')
      expect(result.finish).toMatchObject({ failure: { status: 429, providerRetryAfterMs: 2000 } })
  })
})
