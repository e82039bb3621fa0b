import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { Block, ImageBlock, Message, TextBlock, ToolResultBlock, WireFamily } from '../../../wire/messages.ts'
import type { ModelFacts } from '../../port.ts'
import { wireCallId } from './arguments.ts'
import { assistantMessage } from './assistant.ts'
import { IMAGE_BUDGET, keptImages, placeholder, type ImageBudget } from './images.ts'

export interface HistoryTarget {
  wire: WireFamily
  facts: Pick<ModelFacts, 'inputs' | 'sendBack' | 'midSystem'> & { id?: string }
  /** The bytes of a stored attachment; undefined or a throw turns it into a placeholder. */
  loadBlob(sha256: string): Promise<Uint8Array | undefined>
  budget?: ImageBudget
  /** What the provider has refused before: images stay placeholders, signatures stay away. */
  refused?: { has(key: string): boolean }
  warn(feature: string, detail: string): void
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart
type Pending = Extract<LanguageModelV4Message, { role: 'user' }>

/** Our history in the library's vocabulary, for one wire. Never throws on any history that our log can hold. */
export async function toPrompt(
  system: string,
  messages: readonly Message[],
  target: HistoryTarget,
): Promise<LanguageModelV4Message[]> {
  const context: Context = {
    target,
    kept: keptImages(messages, target.budget ?? IMAGE_BUDGET),
    names: callNames(messages),
  }
  const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }]
  let images: UserPart[] = []
  const flushImages = () => {
    if (images.length > 0) prompt.push({ role: 'user', content: images })
    images = []
  }
  for (const message of messages) {
    const results = message.content.filter((block) => block.type === 'tool-result')
    for (const result of results) {
      const converted = await toolMessage(result, context)
      const last = prompt.at(-1)
      // Gemini wants the answers to one group of calls in one message.
      if (last?.role === 'tool') last.content.push(converted.part)
      else prompt.push({ role: 'tool', content: [converted.part] })
      images.push(...converted.images)
    }
    const rest = message.content.filter((block) => block.type !== 'tool-result')
    if (rest.length === 0) continue
    // Images of tool results wait until every call of the group is answered (LT-20).
    flushImages()
    const converted = await otherMessage({ ...message, content: rest }, context)
    if (converted) prompt.push(converted)
  }
  flushImages()
  return prompt
}

interface Context {
  target: HistoryTarget
  kept: ReadonlySet<ImageBlock>
  names: ReadonlyMap<string, string>
}

async function otherMessage(message: Message, context: Context): Promise<LanguageModelV4Message | undefined> {
  if (message.role === 'assistant') return assistantMessage(message, context.target)
  if (message.role === 'system' && context.target.facts.midSystem) {
    const content = textParts(message.content)
    return content === '' ? undefined : { role: 'system', content }
  }
  const content = (await Promise.all(message.content.map((block) => userPart(block, context)))).flat()
  return content.length === 0 ? undefined : ({ role: 'user', content } satisfies Pending)
}

async function userPart(block: Block, context: Context): Promise<UserPart[]> {
  switch (block.type) {
    case 'text':
      // Anthropic refuses blank text blocks; they say nothing on any wire.
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }]
    case 'image':
      return [await imagePart(block, context)]
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return []
  }
}

async function imagePart(image: ImageBlock, context: Context): Promise<UserPart> {
  const { target, kept } = context
  const omit = (why: string): UserPart => ({ type: 'text', text: placeholder(image, why) })
  if (!target.facts.inputs.includes('image')) return omit('this model reads text only')
  if (target.refused?.has(image.sha256)) return omit('the provider refused it')
  if (!kept.has(image)) return omit('older than the images that fit into one request')
  const data = await target.loadBlob(image.sha256).catch(() => undefined) // a lost attachment must not end the session
  if (data) return { type: 'file', mediaType: image.mediaType, data: { type: 'data', data } }
  return omit('its file is missing')
}

async function toolMessage(
  result: ToolResultBlock,
  context: Context,
): Promise<{ part: LanguageModelV4ToolResultPart; images: UserPart[] }> {
  const parts = await Promise.all(result.content.map((part) => resultPart(part, context)))
  const files = parts.filter((part) => part.type === 'file')
  const inline = context.target.wire === 'responses' || context.target.wire === 'messages'
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const value =
    files.length > 0 && !inline ? `${text}\n[${files.length} image(s) follow in the next message]`.trim() : text
  const output =
    files.length > 0 && inline
      ? { type: 'content' as const, value: parts }
      : {
          type: result.isError && context.target.wire === 'messages' ? ('error-text' as const) : ('text' as const),
          value,
        }
  return {
    part: {
      type: 'tool-result',
      toolCallId: wireCallId(result.toolCallId, context.target.wire),
      toolName: context.names.get(result.toolCallId) ?? 'tool',
      output,
    },
    images: inline ? [] : files,
  }
}

const resultPart = async (part: TextBlock | ImageBlock, context: Context): Promise<UserPart> =>
  part.type === 'text' ? { type: 'text', text: part.text } : imagePart(part, context)

function callNames(messages: readonly Message[]): Map<string, string> {
  const calls = messages.flatMap((message) => message.content.filter((block) => block.type === 'tool-call'))
  return new Map(calls.map((call) => [call.id, call.name]))
}

const textParts = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')
