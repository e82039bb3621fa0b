import type { WireFamily } from '../../../wire/messages.ts'

const TYPES: { [W in WireFamily]: string } = {
  chat: 'ChatBody',
  responses: 'ResponseBody',
  messages: 'MessageCreateParamsStreaming',
  gemini: 'GeminiBody',
}

/** Source text of the recorded bodies, each judged by its vendor's own types when the project is type-checked. */
export function satisfied(bodies: { [pair: string]: unknown }): string {
  return `${[
    "import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages'",
    "import type { Content, FunctionDeclaration } from '@google/genai'",
    "import type { ChatCompletionCreateParamsStreaming, ChatCompletionMessageParam } from 'openai/resources/chat/completions'",
    "import type { ResponseCreateParamsStreaming, ResponseInputItem } from 'openai/resources/responses/responses'",
    '',
    '/** What servers of the chat family read beyond the vendor’s own type. */',
    "type ChatBody = Omit<ChatCompletionCreateParamsStreaming, 'messages'> & {",
    '  messages: (ChatCompletionMessageParam & { reasoning_content?: string })[]',
    '}',
    '/** The vendor’s type demands `detail` of an image; the interface itself takes `auto` for it. */',
    "type Part = { type: 'input_text'; text: string } | { type: 'input_image'; image_url: string }",
    'type Pictured =',
    "  { role: 'user'; content: Part[] } | { type: 'function_call_output'; call_id: string; output: Part[] }",
    "type ResponseBody = Omit<ResponseCreateParamsStreaming, 'input'> & { input: (ResponseInputItem | Pictured)[] }",
    'type GeminiBody = { contents: Content[]; tools: { functionDeclarations: FunctionDeclaration[] }[]; [key: string]: unknown }',
    '',
    '/** The body that the second wire gets when a session is continued on it, by pair. Written by the test of the pairs. */',
    'export const pairs = {',
    ...Object.entries(bodies).map(
      ([pair, body]) => `'${pair}': ${JSON.stringify(body)} satisfies ${TYPES[pair.split('>')[1] as WireFamily]},`,
    ),
    '}',
  ].join('\n')}\n`
}
