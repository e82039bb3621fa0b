import type { LogEvent } from '../wire/events.ts'
import { never } from '../wire/never.ts'
import { textOf, type Block, type Message, type ToolSpec } from '../wire/messages.ts'
import { modelHistory, surface } from '../projection/surface.ts'
import { request } from '../projection/request.ts'
import type { Header } from '../wire/events.ts'

/** A message in the form of the OpenAI chat API; arguments are the model's own raw text. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | {
      role: 'assistant'
      content: string | null
      reasoning_content?: string
      tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
    }
  | { role: 'tool'; tool_call_id: string; content: string }

interface ChatTool {
  type: 'function'
  function: { name: string; description: string; parameters: ToolSpec['parameters'] }
}

/** One answered request: what the model read, what it was offered, what it said. */
export interface ExportedRequest {
  messages: ChatMessage[]
  tools: ChatTool[]
  completion: ChatMessage
  model: string
  meta: {
    session: string
    provider: string
    turn: number
    step: number
    /** `seq` of the answer. */
    seq: number
    compositionDigest: string | null
    usage?: unknown
    interrupted?: true
  }
}

/** Every answered request of a log, rebuilt from its folds as they stood when it was sent. */
export function* exportRequests(header: Header, events: readonly LogEvent[]): Generator<ExportedRequest> {
  let messages = surface.init(header)
  let asked = request.init(header)
  for (const event of events) {
    if (event.type === 'assistant/message') {
      const { turn, step, message, usage, interrupted } = event.data
      const { provider = '', model = '' } = asked.header?.config ?? {}
      yield {
        messages: modelHistory(messages).flatMap(chatMessages),
        tools: (asked.header?.tools ?? []).map(chatTool),
        completion: assistantMessage(message),
        model,
        meta: {
          session: header.id,
          provider,
          turn,
          step,
          seq: event.seq,
          compositionDigest: asked.compositionDigest,
          ...(usage && { usage }),
          ...(interrupted && { interrupted }),
        },
      }
    }
    messages = surface.apply(messages, event)
    asked = request.apply(asked, event)
  }
}

/** The whole conversation as it stands, once per session. */
export function exportConversation(
  header: Header,
  events: readonly LogEvent[],
): { messages: ChatMessage[]; tools: ChatTool[]; model: string; meta: { session: string } } {
  const messages = events.reduce((state, event) => surface.apply(state, event), surface.init(header))
  const asked = events.reduce((state, event) => request.apply(state, event), request.init(header))
  return {
    messages: modelHistory(messages).flatMap(chatMessages),
    tools: (asked.header?.tools ?? []).map(chatTool),
    model: asked.header?.config.model ?? '',
    meta: { session: header.id },
  }
}

const chatTool = ({ name, description, parameters }: ToolSpec): ChatTool => ({
  type: 'function',
  function: { name, description, parameters },
})

function chatMessages(message: Message): ChatMessage[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: textOf(message) }]
    case 'assistant':
      return [assistantMessage(message)]
    case 'user':
      return userMessages(message)
    default:
      return never(message.role)
  }
}

/** Results first: the API wants them right behind the call. */
function userMessages(message: Message): ChatMessage[] {
  const results = message.content.flatMap((block): ChatMessage[] =>
    block.type === 'tool-result'
      ? [{ role: 'tool', tool_call_id: block.toolCallId, content: textOfBlocks(block.content) }]
      : [],
  )
  const text = textOfBlocks(message.content)
  return results.length > 0 && text === '' ? results : [...results, { role: 'user', content: text }]
}

function assistantMessage({ content }: Message): ChatMessage {
  const reasoning = content.flatMap((block) => (block.type === 'reasoning' ? [block.text] : [])).join('')
  const calls = content.flatMap((block) =>
    block.type === 'tool-call'
      ? [{ id: block.id, type: 'function' as const, function: { name: block.name, arguments: block.arguments } }]
      : [],
  )
  const text = textOfBlocks(content)
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** Images stand as their address in the log: the bytes are no part of this format. */
function textOfBlocks(blocks: readonly Block[]): string {
  return blocks
    .map((block) => {
      if (block.type === 'text') return block.text
      return block.type === 'image' ? `[image ${block.mediaType} sha256:${block.sha256}]` : ''
    })
    .join('')
}
