/** What the mock answers, in no provider's words. Token counts are disjoint: `input` without `cacheRead` and `cacheWrite`. */
export interface Reply {
  behavior?: Behavior
  blocks?: ReplyBlock[]
  /** Short form of `blocks`: reasoning, then text, then calls. */
  reasoning?: string
  text?: string
  toolCalls?: { id?: string; name: string; arguments: string }[]
  usage?: { input?: number; cacheRead?: number; cacheWrite?: number; output?: number; reasoning?: number }
  finish?: 'stop' | 'tool-calls' | 'length' | 'content-filter'
  /** Characters per delta (default 8). */
  chunk?: number
  /** Milliseconds before the first byte, and between frames. */
  firstDelayMs?: number
  delayMs?: number
  /** Gates in the way: they cut the frames into equal parts, and each is shut until the mock's `release(gate)`. */
  gates?: string[]
  /** Cuts the bytes on the wire into writes of this size, also inside lines and characters. */
  splitBytes?: number
  headers?: { [name: string]: string }
  /** Replaces the body of an error answer. */
  errorMessage?: string
  /** Exact frames instead of rendered ones; each is written as it stands. */
  frames?: string[]
  /** Frames put in after the first text frame. */
  inject?: string[]
}

export type ReplyBlock =
  | { kind: 'reasoning'; text: string; signature?: string }
  | { kind: 'text'; text: string }
  | { kind: 'tool'; id?: string; name: string; arguments: string; signature?: string }

export const BEHAVIORS = [
  'success',
  'slow_success',
  'reasoning_success',
  'tool_call_success',
  'parallel_tools',
  'large_tool_args',
  'max_tokens',
  'content_filter',
  'refusal',
  'duplicate_ids',
  'missing_ids',
  'huge_tool_args',
  'max_tokens_in_call',
  'five_megabytes',
  'huge_headers',
  'ignores_cancel',
  'empty',
  'empty_body',
  'stream_eof',
  'partial_eof',
  'connection_reset',
  'stream_disconnect',
  'partial_disconnect',
  'stall',
  'partial_stall',
  'keepalive_only',
  'malformed_json',
  'malformed_event',
  'unknown_event',
  'usage_without_choices',
  'error_first_event',
  'error_mid_stream',
  'rate_limit',
  'rate_limit_bare',
  'server_error',
  'bad_gateway',
  'html_error',
  'service_unavailable',
  'overloaded',
  'auth_error',
  'forbidden',
  'payload_too_large',
  'invalid_request',
  'context_overflow',
  'quota_exceeded',
  'unknown_model',
  'wrong_content_type',
  'html_200',
] as const
export type Behavior = (typeof BEHAVIORS)[number]

const LONG = JSON.stringify({ command: 'x'.repeat(4000) })
const PWD = { name: 'bash', arguments: '{"command":"pwd"}' }

/** Content that belongs to the name of a success behaviour; explicit fields of the reply win. */
const CONTENT: Partial<Record<Behavior, Reply>> = {
  slow_success: { text: 'A slow answer.', delayMs: 20 },
  reasoning_success: { reasoning: 'First I think.', text: 'Then I answer.' },
  tool_call_success: { toolCalls: [{ name: 'bash', arguments: '{"command":"pwd"}' }], finish: 'tool-calls' },
  parallel_tools: {
    toolCalls: [
      { name: 'bash', arguments: '{"command":"pwd"}' },
      { name: 'bash', arguments: '{"command":"ls -la"}' },
    ],
    finish: 'tool-calls',
  },
  large_tool_args: { toolCalls: [{ name: 'bash', arguments: LONG }], finish: 'tool-calls', chunk: 20 },
  duplicate_ids: { toolCalls: [PWD, PWD].map((call) => ({ id: 'call_same', ...call })) },
  missing_ids: { toolCalls: [PWD, PWD].map((call) => ({ id: '', ...call })) },
  huge_tool_args: {
    toolCalls: [{ name: 'bash', arguments: JSON.stringify({ command: `true ${'x'.repeat(200_000)}` }) }],
    chunk: 64,
  },
  max_tokens_in_call: { toolCalls: [{ name: 'bash', arguments: '{"command":"echo ha' }], finish: 'length' },
  five_megabytes: { text: 'all work and no play '.repeat(250_000), chunk: 4096 },
  ignores_cancel: { text: 'on and on '.repeat(400), delayMs: 2 },
  refusal: { text: 'I cannot help with that.' },
  max_tokens: { text: 'This is cut', finish: 'length' },
  content_filter: { text: 'I cannot', finish: 'content-filter' },
  empty: { blocks: [] },
}

export interface Rendering {
  blocks: ReplyBlock[]
  usage: Required<NonNullable<Reply['usage']>>
  finish: NonNullable<Reply['finish']>
  chunk: number
  id: string
  model: string
}

/** Fills a reply in, so that every dialect renders the same answer. `n` numbers the response. */
export function render(reply: Reply, model: string, n: number): Rendering {
  const full: Reply = { ...CONTENT[reply.behavior ?? 'success'], ...reply }
  const short: ReplyBlock[] = [
    ...(full.reasoning === undefined ? [] : [{ kind: 'reasoning' as const, text: full.reasoning }]),
    ...(full.text === undefined ? [] : [{ kind: 'text' as const, text: full.text }]),
    ...(full.toolCalls ?? []).map((call) => ({ kind: 'tool' as const, ...call })),
  ]
  const blocks = full.blocks ?? (short.length > 0 ? short : [{ kind: 'text' as const, text: 'Hello from the mock.' }])
  const calls = blocks.some((block) => block.kind === 'tool')
  return {
    blocks: blocks.map((block, index) => (block.kind === 'tool' ? { id: `call_${n}_${index}`, ...block } : block)),
    usage: { input: 20, cacheRead: 5, cacheWrite: 0, output: 9, reasoning: 0, ...full.usage },
    finish: full.finish ?? (calls ? 'tool-calls' : 'stop'),
    chunk: full.chunk ?? 8,
    id: `mock-${n}`,
    model,
  }
}

export const delayOf = (reply: Reply): number => reply.delayMs ?? CONTENT[reply.behavior ?? 'success']?.delayMs ?? 0

/** A text in pieces of `size` UTF-16 units, never inside a surrogate pair: JSON could not carry half of one. */
export function pieces(text: string, size: number): string[] {
  const out: string[] = []
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + Math.max(1, size))
    const last = text.charCodeAt(to - 1)
    if (last >= 0xd800 && last < 0xdc00 && to < text.length) to++
    out.push(text.slice(from, to))
    from = to
  }
  return out
}

export interface ErrorAnswer {
  status: number
  /** The vendor's own word for the kind of error. */
  type: string
  message: string
  headers?: { [name: string]: string }
}

export const ERRORS: Partial<Record<Behavior, ErrorAnswer>> = {
  rate_limit: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Rate limit reached, slow down.',
    headers: { 'retry-after': '2' },
  },
  rate_limit_bare: { status: 429, type: 'rate_limit_error', message: 'Rate limit reached, slow down.' },
  bad_gateway: { status: 502, type: 'api_error', message: 'Bad gateway.' },
  html_error: { status: 502, type: 'html', message: '<html><head><title>502 Bad Gateway</title></head></html>' },
  forbidden: { status: 403, type: 'permission_error', message: 'This key may not use the model.' },
  payload_too_large: { status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size.' },
  server_error: { status: 500, type: 'api_error', message: 'Internal server error.' },
  service_unavailable: { status: 503, type: 'service_unavailable', message: 'The engine is starting.' },
  overloaded: { status: 529, type: 'overloaded_error', message: 'Overloaded' },
  auth_error: { status: 401, type: 'authentication_error', message: 'invalid x-api-key' },
  invalid_request: { status: 400, type: 'invalid_request_error', message: 'messages.0: field required' },
  context_overflow: {
    status: 400,
    type: 'invalid_request_error',
    message: "This model's maximum context length is 8192 tokens; your prompt is too long.",
  },
  quota_exceeded: { status: 429, type: 'insufficient_quota', message: 'You exceeded your current quota.' },
  unknown_model: { status: 404, type: 'not_found_error', message: 'model: no-such-model' },
}

export const STREAM_ERROR: ErrorAnswer = { status: 503, type: 'overloaded_error', message: 'The engine is overloaded.' }

export interface Dialect {
  name: 'chat' | 'responses' | 'messages' | 'gemini'
  /** The whole answer, one frame per SSE event, blank line included. */
  frames(rendering: Rendering): string[]
  /** An answer that the vendor marks as refused by its own safety rules. */
  refusal(rendering: Rendering): string[]
  errorBody(error: ErrorAnswer): unknown
  /** An error inside a stream that began with 200. */
  errorFrame(error: ErrorAnswer): string
  unknownFrame: string
  malformedFrame: string
}

export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
