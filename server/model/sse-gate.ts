import { ModelError } from './port.ts'

const SNIFF_BYTES = 2048
const FIELDS = ['data:', 'event:', 'id:', 'retry:', ':']

/**
 * Lets a 2xx answer through only when it is an event stream, by its type or, under a wrong type, by its first bytes.
 * Otherwise a login page would look like an empty success (LT-13). Throws ModelError MALFORMED_RESPONSE.
 */
export async function gate(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? ''
  if (/^text\/event-stream\b/i.test(type) || !response.body) return response
  const reader = response.body.getReader()
  const { chunks, head, done } = await sniff(reader)
  if (!FIELDS.some((field) => head.startsWith(field))) {
    reader.cancel().catch(() => undefined) // the verdict stands, whatever closing the socket says
    throw malformed(
      `Expected an event stream, got ${type || 'no content type'}: ${head.slice(0, 300) || 'an empty body'}`,
    )
  }
  const headers = new Headers(response.headers)
  headers.set('content-type', 'text/event-stream')
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      if (done) controller.close()
    },
    async pull(controller) {
      const { done: ended, value } = await reader.read()
      if (ended) return controller.close()
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}

export const malformed = (message: string): ModelError => new ModelError({ code: 'MALFORMED_RESPONSE', message })

type Bytes = Uint8Array<ArrayBuffer>

/** Reads on while the text so far may still become the first field of an event stream. */
async function sniff(
  reader: ReadableStreamDefaultReader<Bytes>,
): Promise<{ chunks: Bytes[]; head: string; done: boolean }> {
  const decoder = new TextDecoder()
  const chunks: Bytes[] = []
  let text = ''
  let head = ''
  while (text.length < SNIFF_BYTES && FIELDS.some((field) => field !== head && field.startsWith(head))) {
    const { done, value } = await reader.read()
    if (done) return { chunks, head, done }
    chunks.push(value)
    text += decoder.decode(value, { stream: true })
    head = text.trimStart()
  }
  return { chunks, head, done: false }
}

/** Rewrites the JSON of each `data:` line; null drops the event. Cuts inside lines or characters do not matter. */
export function mapEvents(
  body: ReadableStream<Uint8Array>,
  map: (data: unknown, text: string) => string | null,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ''
  const convert = (block: string): string => {
    const lines = block.split(/\r\n|\n|\r/)
    const text = lines
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trimStart())
      .join('\n')
    if (text === '' || text === '[DONE]') return `${block}\n\n`
    const mapped = map(parsed(text), text)
    if (mapped === null) return ''
    if (mapped === text) return `${block}\n\n`
    return `${[...lines.filter((line) => !line.startsWith('data:')), `data: ${mapped}`].join('\n')}\n\n`
  }
  const transform = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      rest += decoder.decode(chunk, { stream: true })
      const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/)
      rest = blocks.pop() ?? ''
      const out = blocks.map(convert).join('')
      if (out !== '') controller.enqueue(encoder.encode(out))
    },
    flush(controller) {
      rest += decoder.decode()
      if (rest !== '') controller.enqueue(encoder.encode(convert(rest)))
    },
  })
  return body.pipeThrough(transform)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the library reports the broken line itself
  }
}
