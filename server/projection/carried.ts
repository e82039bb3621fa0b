import type { Header, LogEvent } from '../wire/events.ts'
import type { Block, Message, TextBlock, ToolCallBlock, ToolResultBlock } from '../wire/messages.ts'
import { fold } from './projection.ts'
import { modelHistory, surface, type Placed } from './surface.ts'

/** Characters of arguments that are quoted: a written file is no news to a model that cannot write files. */
const ARGUMENT_CHARS = 4000
/** Characters of each text of a result. */
const RESULT_CHARS = 16_000

/**
 * Retells the calls of tools that `cannot` be made any more, and their results, in text. A history whose calls are all
 * answered right after their message stays one: of such a message the calls that can be made keep their results next to it,
 * the retold ones follow in a message of a person's role. Everything else is handed on as it is.
 */
export function carryAsText(history: readonly Placed[], cannot: (name: string, seq: number) => boolean): Message[] {
  const messages: Message[] = []
  for (let index = 0; index < history.length; index++) {
    const { seq, message } = history[index]!
    const calls = callsOf(message)
    const retold = new Set(calls.filter((call) => cannot(call.name, seq)))
    if (retold.size === 0) {
      messages.push(message)
      continue
    }
    const answers = history.slice(index + 1, index + 1 + calls.length).map((answer) => answer.message)
    messages.push(retoldCalls(message, retold), ...answers.filter((_, slot) => !retold.has(calls[slot]!)))
    answers.forEach((answer, slot) => {
      if (retold.has(calls[slot]!)) messages.push(retoldResult(answer, calls[slot]!.name))
    })
    index += answers.length
  }
  return messages
}

/** The calls in `events` that a session which inherits them could not make with `toolNames`, by tool in order of names. */
export function carriedAsText(
  events: Iterable<LogEvent>,
  header: Header,
  toolNames: Iterable<string>,
): { tool: string; calls: number }[] {
  const known = new Set(toolNames)
  const counts = new Map<string, number>()
  for (const message of modelHistory(fold(surface, header, events)))
    for (const { name } of callsOf(message)) if (!known.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([tool, calls]) => ({ tool, calls })).toSorted((a, b) => (a.tool < b.tool ? -1 : 1))
}

export const callsOf = ({ role, content }: Message): ToolCallBlock[] =>
  role === 'assistant' ? content.filter((block) => block.type === 'tool-call') : []

/** Text never stands behind a call: some providers want the results to follow the calls at once. */
function retoldCalls(message: Message, retold: ReadonlySet<Block>): Message {
  const content: Block[] = []
  let firstCall: number | undefined
  for (const block of message.content) {
    const kept = block.type !== 'tool-call' || !retold.has(block)
    if (kept && block.type === 'tool-call') firstCall ??= content.length
    if (kept) content.push(block)
    else content.splice(firstCall ?? content.length, 0, callText(block))
    if (!kept && firstCall !== undefined) firstCall++
  }
  return { ...message, content, source: withoutReplay(message.source) }
}

/** Replay data fits the blocks as the provider made them, one by one; a provider must not get it beside other blocks. */
function withoutReplay(source: Message['source']): Message['source'] {
  if (source.kind !== 'model') return source
  const { replayState: _, ...rest } = source
  return rest
}

function retoldResult(answer: Message, name: string): Message {
  const result = answer.content.find((block): block is ToolResultBlock => block.type === 'tool-result')
  const content = (result?.content ?? []).map((block) =>
    block.type === 'text' ? { ...block, text: bounded(block.text, RESULT_CHARS) } : block,
  )
  const outcome = result?.isError ? 'It failed with' : 'It returned'
  const empty = content.length === 0 ? ' nothing.' : ':'
  const told = text(`[Result of the earlier call of the tool "${name}". ${outcome}${empty}]`)
  return { ...answer, content: [told, ...content] }
}

const callText = ({ name, arguments: raw }: ToolCallBlock): TextBlock =>
  text(`[Earlier call of the tool "${name}", which is not available any more, with ${bounded(raw, ARGUMENT_CHARS)}]`)

const text = (value: string): TextBlock => ({ type: 'text', text: value })

/** The beginning and the end of a long text, with a word on what is left out; a character cut in two becomes a mark. */
function bounded(value: string, limit: number): string {
  if (value.length <= limit) return value
  const half = Math.floor(limit / 2)
  const [head, tail] = [value.slice(0, half).toWellFormed(), value.slice(-half).toWellFormed()]
  return `${head}\n[${value.length - 2 * half} characters left out]\n${tail}`
}
