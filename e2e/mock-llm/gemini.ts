import { event, pieces, type Dialect, type Rendering, type ReplyBlock } from './reply.ts'

const FINISH = { stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS', 'content-filter': 'SAFETY' } as const
const STATUS: { [status: number]: string } = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

/** Google's `streamGenerateContent` with `alt=sse`. Arguments travel as objects, in one piece. */
export const gemini: Dialect = {
  name: 'gemini',
  frames(r) {
    const chunk = (parts: object[], extra: object = {}) =>
      event({
        candidates: [{ content: { role: 'model', parts }, index: 0, ...extra }],
        usageMetadata: usage(r),
        modelVersion: r.model,
        responseId: r.id,
      })
    return [
      ...r.blocks.flatMap((block) => partsOf(block, r).map((part) => chunk([part]))),
      chunk([], { finishReason: FINISH[r.finish] }),
    ]
  },
  refusal: (r) => [
    event({
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { ...usage(r), candidatesTokenCount: 0 },
      modelVersion: r.model,
      responseId: r.id,
    }),
  ],
  errorBody: ({ status, message }) => ({ error: { code: status, message, status: STATUS[status] ?? 'UNKNOWN' } }),
  errorFrame: ({ status, message }) => event({ error: { code: status, message, status: STATUS[status] ?? 'UNKNOWN' } }),
  unknownFrame: event({ futureField: { value: 1 } }),
  malformedFrame: event({ candidates: 'not a list' }),
}

function partsOf(block: ReplyBlock, r: Rendering): object[] {
  switch (block.kind) {
    case 'reasoning': {
      const parts: object[] = pieces(block.text, r.chunk).map((text) => ({ text, thought: true }))
      return block.signature === undefined
        ? parts
        : [...parts, { text: '', thought: true, thoughtSignature: block.signature }]
    }
    case 'text':
      return pieces(block.text, r.chunk).map((text) => ({ text }))
    case 'tool':
      return [
        {
          functionCall: {
            ...(block.id !== '' && { id: block.id }),
            name: block.name,
            args: argsOf(block.arguments),
          },
          ...(block.signature !== undefined && { thoughtSignature: block.signature }),
        },
      ]
  }
}

/** Arguments that break off cannot travel as an object: as with the vendor, the call then comes without any. */
function argsOf(text: string): object {
  try {
    return JSON.parse(text || '{}') as object
  } catch {
    return {}
  }
}

const usage = ({ usage: u }: Rendering) => ({
  promptTokenCount: u.input + u.cacheRead + u.cacheWrite,
  cachedContentTokenCount: u.cacheRead,
  candidatesTokenCount: u.output - u.reasoning,
  thoughtsTokenCount: u.reasoning,
  totalTokenCount: u.input + u.cacheRead + u.cacheWrite + u.output,
  vendorExtra: 'kept',
})
