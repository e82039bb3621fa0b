import { event, pieces, type Dialect, type Rendering, type ReplyBlock } from './reply.ts'

const FINISH = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
} as const

/** Anthropic's Messages API. */
export const messages: Dialect = {
  name: 'messages',
  frames(r) {
    const { usage: u } = r
    const start = {
      id: r.id,
      type: 'message',
      role: 'assistant',
      model: r.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: u.input,
        cache_creation_input_tokens: u.cacheWrite,
        cache_read_input_tokens: u.cacheRead,
        output_tokens: 1,
        service_tier: 'standard',
        vendor_extra: 'kept',
      },
    }
    return [
      send('message_start', { message: start }),
      send('ping', {}),
      ...r.blocks.flatMap((block, index) => blockFrames(block, r, index)),
      send('message_delta', {
        delta: { stop_reason: FINISH[r.finish], stop_sequence: null },
        usage: { output_tokens: u.output },
      }),
      send('message_stop', {}),
    ]
  },
  refusal: (r) => messages.frames({ ...r, finish: 'content-filter' }),
  errorBody: ({ type, message }) => ({ type: 'error', error: { type, message }, request_id: 'req_mock' }),
  errorFrame: ({ type, message }) => send('error', { error: { type, message } }),
  unknownFrame: send('future_event', { value: 1 }),
  malformedFrame: send('content_block_delta', { index: 'zero' }),
}

function send(type: string, data: object): string {
  return event({ type, ...data }, type)
}

function blockFrames(block: ReplyBlock, r: Rendering, index: number): string[] {
  const start = (content_block: object) => send('content_block_start', { index, content_block })
  const delta = (value: object) => send('content_block_delta', { index, delta: value })
  const stop = send('content_block_stop', { index })
  switch (block.kind) {
    case 'reasoning':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...pieces(block.text, r.chunk).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature ?? `sig-${r.id}-${index}` }),
        stop,
      ]
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...pieces(block.text, r.chunk).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ]
    case 'tool':
      return [
        start({ type: 'tool_use', id: block.id, name: block.name, input: {} }),
        ...pieces(block.arguments, r.chunk).map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ]
  }
}
