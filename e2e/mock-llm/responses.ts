import { event, pieces, type Dialect, type Rendering, type ReplyBlock } from './reply.ts'

type Send = (type: string, data: object) => string

/** OpenAI's Responses API. */
export const responses: Dialect = {
  name: 'responses',
  frames(r) {
    let sequence = 0
    const send: Send = (type, data) => event({ type, sequence_number: sequence++, ...data }, type)
    const items = r.blocks.map((block, index) => toItem(block, r, index))
    const body = r.blocks.flatMap((block, index) => blockFrames(block, r, { index, send, item: items[index]! }))
    const start = send('response.created', { response: response(r, [], 'in_progress') })
    const complete = r.finish === 'length' || r.finish === 'content-filter' ? 'incomplete' : 'completed'
    return [start, ...body, send(`response.${complete}`, { response: response(r, items, complete) })]
  },
  refusal(r) {
    const refusal = r.blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('')
    const part = { type: 'refusal', refusal }
    const at = { item_id: `msg_${r.id}`, output_index: 0, content_index: 0 }
    const item = { id: at.item_id, type: 'message', role: 'assistant', status: 'completed', content: [part] }
    let sequence = 0
    const send: Send = (type, data) => event({ type, sequence_number: sequence++, ...data }, type)
    return [
      send('response.created', { response: response(r, [], 'in_progress') }),
      send('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } }),
      send('response.content_part.added', { ...at, part: { ...part, refusal: '' } }),
      ...pieces(refusal, r.chunk).map((delta) => send('response.refusal.delta', { ...at, delta })),
      send('response.refusal.done', { ...at, refusal }),
      send('response.content_part.done', { ...at, part }),
      send('response.output_item.done', { output_index: 0, item }),
      send('response.completed', { response: response(r, [item], 'completed') }),
    ]
  },
  errorBody: ({ type, message }) => ({ error: { message, type, param: null, code: type } }),
  errorFrame: ({ type, message }) =>
    event(
      { type: 'error', sequence_number: 1, code: type, message, param: null, error: { type, code: type, message } },
      'error',
    ),
  unknownFrame: event({ type: 'response.future_event', sequence_number: 1, value: 1 }, 'response.future_event'),
  malformedFrame: event({ type: 'response.output_text.delta', sequence_number: 1, delta: 5 }),
}

function response(r: Rendering, output: object[], status: string): object {
  const reason = r.finish === 'length' ? 'max_output_tokens' : 'content_filter'
  const { usage: u } = r
  const input = u.input + u.cacheRead + u.cacheWrite
  return {
    id: r.id,
    object: 'response',
    created_at: 1_767_225_600,
    status,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    instructions: null,
    metadata: {},
    model: r.model,
    output,
    output_text: null,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    service_tier: 'default',
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: u.cacheRead },
            output_tokens: u.output,
            output_tokens_details: { reasoning_tokens: u.reasoning },
            total_tokens: input + u.output,
            vendor_extra: 'kept',
          },
  }
}

function toItem(block: ReplyBlock, r: Rendering, index: number): { id: string; type: string; [key: string]: unknown } {
  const id = `item_${r.id}_${index}`
  switch (block.kind) {
    case 'reasoning':
      return {
        id: `rs_${id}`,
        type: 'reasoning',
        encrypted_content: block.signature ?? `enc-${r.id}-${index}`,
        summary: [{ type: 'summary_text', text: block.text }],
      }
    case 'text':
      return {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: block.text, annotations: [], logprobs: [] }],
      }
    case 'tool':
      return {
        id: `fc_${id}`,
        type: 'function_call',
        status: 'completed',
        call_id: block.id,
        name: block.name,
        arguments: block.arguments,
      }
  }
}

function blockFrames(
  block: ReplyBlock,
  r: Rendering,
  { index, send, item }: { index: number; send: Send; item: ReturnType<typeof toItem> },
): string[] {
  const at = { item_id: item.id, output_index: index }
  const open = (patch: object) =>
    send('response.output_item.added', { output_index: index, item: { ...item, ...patch } })
  const done = () => send('response.output_item.done', { output_index: index, item })
  switch (block.kind) {
    case 'reasoning': {
      const part = { ...at, summary_index: 0 }
      return [
        open({ summary: [], encrypted_content: 'enc-start' }),
        send('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } }),
        ...pieces(block.text, r.chunk).map((delta) =>
          send('response.reasoning_summary_text.delta', { ...part, delta }),
        ),
        send('response.reasoning_summary_text.done', { ...part, text: block.text }),
        send('response.reasoning_summary_part.done', { ...part, part: { type: 'summary_text', text: block.text } }),
        done(),
      ]
    }
    case 'text': {
      const part = { ...at, content_index: 0 }
      const empty = { type: 'output_text', text: '', annotations: [], logprobs: [] }
      return [
        open({ status: 'in_progress', content: [] }),
        send('response.content_part.added', { ...part, part: empty }),
        ...pieces(block.text, r.chunk).map((delta) =>
          send('response.output_text.delta', { ...part, delta, logprobs: [] }),
        ),
        send('response.output_text.done', { ...part, text: block.text, logprobs: [] }),
        send('response.content_part.done', { ...part, part: { ...empty, text: block.text } }),
        done(),
      ]
    }
    case 'tool':
      return [
        open({ status: 'in_progress', arguments: '' }),
        ...pieces(block.arguments, r.chunk).map((delta) =>
          send('response.function_call_arguments.delta', { ...at, delta }),
        ),
        send('response.function_call_arguments.done', { ...at, name: block.name, arguments: block.arguments }),
        done(),
      ]
  }
}
