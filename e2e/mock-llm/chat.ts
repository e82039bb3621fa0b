import { event, pieces, type Dialect, type Rendering } from './reply.ts'

const FINISH = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
} as const

/** Chat completions as OpenAI-compatible servers stream them. */
export const chat: Dialect = {
  name: 'chat',
  frames(r) {
    const chunk = (delta: object, finish: string | null = null) =>
      event({ ...head(r), choices: [{ index: 0, delta, finish_reason: finish }] })
    let call = -1
    const body = r.blocks.flatMap((block) => {
      switch (block.kind) {
        case 'reasoning':
          return pieces(block.text, r.chunk).map((s) => chunk({ reasoning_content: s }))
        case 'text':
          return pieces(block.text, r.chunk).map((s) => chunk({ content: s }))
        case 'tool': {
          const index = ++call
          const first = { index, id: block.id, type: 'function', function: { name: block.name, arguments: '' } }
          const rest = pieces(block.arguments, r.chunk).map((s) =>
            chunk({ tool_calls: [{ index, function: { arguments: s } }] }),
          )
          return [chunk({ tool_calls: [first] }), ...rest]
        }
      }
    })
    return [
      chunk({ role: 'assistant', content: '' }),
      ...body,
      chunk({}, FINISH[r.finish]),
      event({ ...head(r), choices: [], usage: usage(r) }),
      'data: [DONE]\n\n',
    ]
  },
  refusal(r) {
    const chunk = (delta: object, finish: string | null = null) =>
      event({ ...head(r), choices: [{ index: 0, delta, finish_reason: finish }] })
    const said = r.blocks.flatMap((block) => (block.kind === 'text' ? pieces(block.text, r.chunk) : []))
    return [
      chunk({ role: 'assistant', content: '' }),
      ...said.map((s) => chunk({ refusal: s })),
      chunk({}, 'stop'),
      event({ ...head(r), choices: [], usage: usage(r) }),
      'data: [DONE]\n\n',
    ]
  },
  errorBody: ({ type, message }) => ({ error: { message, type, param: null, code: type } }),
  errorFrame: ({ type, message }) => event({ error: { message, type, param: null, code: type } }),
  unknownFrame: event({ object: 'gateway.heartbeat', seq: 1 }),
  malformedFrame: event({ id: 'x', choices: 'not a list' }),
}

const head = (r: Rendering) => ({ id: r.id, object: 'chat.completion.chunk', created: 1_767_225_600, model: r.model })

export const usage = ({ usage: u }: Rendering) => ({
  prompt_tokens: u.input + u.cacheRead + u.cacheWrite,
  completion_tokens: u.output,
  total_tokens: u.input + u.cacheRead + u.cacheWrite + u.output,
  prompt_tokens_details: { cached_tokens: u.cacheRead },
  completion_tokens_details: { reasoning_tokens: u.reasoning },
  vendor_extra: 'kept',
})
