import type { WireFamily } from '../../server/wire/messages.ts'
import { never } from '../../server/wire/never.ts'

type Body = { [key: string]: any } // eslint-disable-line typescript/no-explicit-any -- bodies of four vendors, read by path

export interface Judged {
  /** The server insists on `reasoning_content` on every answer with calls (B19). */
  insists?: boolean
}

/** Breaches of the public rules of a wire in one request body, each a sentence; none for a body that the vendor takes. */
export function judge(wire: WireFamily, body: Body, { insists = false }: Judged = {}): string[] {
  const found: string[] = []
  const must = (holds: unknown, breach: string) => void (holds || found.push(breach))
  switch (wire) {
    case 'chat':
      chat(body, must, insists)
      return found
    case 'responses':
      responses(body, must)
      return found
    case 'messages':
      messages(body, must)
      return found
    case 'gemini':
      gemini(body, must)
      return found
    default:
      return never(wire)
  }
}

type Must = (holds: unknown, breach: string) => void
const list = (value: unknown): Body[] => (Array.isArray(value) ? (value as Body[]) : [])
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isShown = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''
const DATA_URL = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/
const BASE64 = /^[A-Za-z0-9+/]+=*$/
const only = (value: Body, keys: string): string[] => Object.keys(value).filter((key) => !keys.split(' ').includes(key))

/** Chat completions: each call is answered right behind the message that made it, before anything else is said. */
function chat(body: Body, must: Must, insists: boolean): void {
  const all = list(body.messages)
  let open: string[] = []
  const seen = new Set<string>()
  must(all[0]?.role === 'system', 'the system text does not come first')
  all.forEach((message, at) => {
    const where = `messages[${at}]`
    if (message.role !== 'tool')
      must(open.length === 0, `${where}: calls ${open.join(', ')} are not answered before it`)
    switch (message.role) {
      case 'system':
        return must(at === 0 && isShown(message.content), `${where}: a system text in the middle or blank`)
      case 'user':
        must(
          only(message, 'role content').length === 0,
          `${where}: foreign keys ${only(message, 'role content').join()}`,
        )
        return chatUser(message, must, where)
      case 'assistant':
        must(typeof message.content === 'string', `${where}: content is no text`)
        must(isShown(message.content) || list(message.tool_calls).length > 0, `${where}: an empty answer`)
        for (const call of list(message.tool_calls)) {
          must(isText(call.id) && call.id.length <= 64 && !seen.has(call.id), `${where}: call id ${call.id}`)
          must(call.type === 'function' && isText(call.function?.name), `${where}: a call without name`)
          must(typeof call.function?.arguments === 'string', `${where}: arguments are no text`)
          seen.add(call.id)
        }
        open = list(message.tool_calls).map((call) => call.id as string)
        if (insists && open.length > 0)
          must(typeof message.reasoning_content === 'string', `${where}: no reasoning_content beside calls`)
        if (!insists) must(!('reasoning_content' in message), `${where}: reasoning_content where nobody reads it`)
        must(
          only(message, 'role content tool_calls reasoning_content').length === 0,
          `${where}: foreign keys ${only(message, 'role content tool_calls reasoning_content').join()}`,
        )
        return
      case 'tool':
        must(open[0] === message.tool_call_id, `${where}: answers ${message.tool_call_id}, due is ${open[0]}`)
        must(typeof message.content === 'string', `${where}: content is no text`)
        open = open.slice(1)
        return
      default:
        return must(false, `${where}: role ${message.role}`)
    }
  })
  must(open.length === 0, `calls ${open.join(', ')} are never answered`)
}

function chatUser(message: Body, must: Must, where: string): void {
  if (typeof message.content === 'string') return must(isShown(message.content), `${where}: blank`)
  must(list(message.content).length > 0, `${where}: no parts`)
  for (const part of list(message.content)) {
    if (part.type === 'text') must(isShown(part.text), `${where}: a blank part`)
    else must(part.type === 'image_url' && DATA_URL.test(part.image_url?.url), `${where}: part ${part.type}`)
  }
}

/** Responses without state: a call's output follows its group, reasoning stands before what it led to. */
function responses(body: Body, must: Must): void {
  const all = list(body.input)
  let open: string[] = []
  const seen = new Set<string>()
  must(body.store === false, 'state is kept on their side')
  all.forEach((item, at) => {
    const where = `input[${at}]`
    const kind = (item.type as string | undefined) ?? 'message'
    if (kind === 'message' || kind === 'reasoning')
      must(open.length === 0, `${where}: calls ${open.join(', ')} are not answered before it`)
    switch (kind) {
      case 'reasoning': {
        must(isText(item.encrypted_content), `${where}: reasoning without its encrypted content`)
        must(Array.isArray(item.summary), `${where}: reasoning without summary`)
        const next = all[at + 1]
        must(
          next?.type === 'function_call' || next?.type === 'reasoning' || next?.role === 'assistant',
          `${where}: nothing follows the reasoning`,
        )
        return
      }
      case 'function_call':
        must(
          isText(item.call_id) && item.call_id.length <= 64 && !seen.has(item.call_id),
          `${where}: id ${item.call_id}`,
        )
        must(isText(item.name) && typeof item.arguments === 'string', `${where}: a call without name or arguments`)
        seen.add(item.call_id)
        open.push(item.call_id)
        return
      case 'function_call_output':
        must(open.includes(item.call_id), `${where}: answers ${item.call_id}, which nobody called`)
        must(typeof item.output === 'string' || list(item.output).length > 0, `${where}: no output`)
        for (const part of list(item.output)) responsesPart(part, must, where)
        open = open.filter((id) => id !== item.call_id)
        return
      case 'message':
        must(['system', 'developer', 'user', 'assistant'].includes(item.role), `${where}: role ${item.role}`)
        if (typeof item.content === 'string') return must(isShown(item.content), `${where}: blank`)
        must(list(item.content).length > 0, `${where}: no parts`)
        for (const part of list(item.content)) responsesPart(part, must, where)
        return
      default:
        return must(false, `${where}: type ${kind}`)
    }
  })
  must(open.length === 0, `calls ${open.join(', ')} are never answered`)
}

function responsesPart(part: Body, must: Must, where: string): void {
  if (part.type === 'input_text' || part.type === 'output_text')
    return must(isShown(part.text), `${where}: a blank part`)
  must(part.type === 'input_image' && DATA_URL.test(part.image_url), `${where}: part ${part.type}`)
}

/** Messages: user and assistant take turns, and the results of all calls open the very next turn. */
function messages(body: Body, must: Must): void {
  const all = list(body.messages)
  const marks = JSON.stringify(body).split('"cache_control"').length - 1
  must(marks <= 4, `${marks} cache marks`)
  must(all.at(-1)?.role === 'user', 'the last turn is no turn of the user')
  const seen = new Set<string>()
  let open: string[] = []
  all.forEach((message, at) => {
    const where = `messages[${at}]`
    must(message.role === (at % 2 === 0 ? 'user' : 'assistant'), `${where}: ${message.role} out of turn`)
    const parts = list(message.content)
    must(parts.length > 0, `${where}: empty`)
    const results = parts.filter((part) => part.type === 'tool_result')
    const due = open
    open = []
    must(
      JSON.stringify(results.map((part) => part.tool_use_id).sort()) === JSON.stringify([...due].sort()),
      `${where}: results ${results.map((part) => part.tool_use_id).join()} for calls ${due.join()}`,
    )
    must(
      parts.slice(0, results.length).every((part) => part.type === 'tool_result'),
      `${where}: results come late`,
    )
    for (const part of parts) {
      if (part.type === 'tool_use') {
        must(/^[\w-]{1,64}$/.test(part.id) && !seen.has(part.id), `${where}: call id ${part.id}`)
        must(typeof part.input === 'object' && part.input !== null && !Array.isArray(part.input), `${where}: input`)
        seen.add(part.id)
        open.push(part.id)
      }
      messagesPart(part, message.role, must, where)
    }
  })
}

function messagesPart(part: Body, role: string, must: Must, where: string): void {
  switch (part.type) {
    case 'text':
      return must(isShown(part.text), `${where}: a blank text`)
    case 'image':
      must(role === 'user', `${where}: an image in an answer`)
      must(part.source?.type === 'base64' && BASE64.test(part.source.data), `${where}: an image without data`)
      return must(/^image\/(png|jpeg|gif|webp)$/.test(part.source?.media_type), `${where}: ${part.source?.media_type}`)
    case 'thinking':
      return must(role === 'assistant' && isText(part.signature), `${where}: thinking without signature`)
    case 'redacted_thinking':
      return must(role === 'assistant' && isText(part.data), `${where}: redacted thinking without data`)
    case 'tool_use':
      return must(role === 'assistant' && isText(part.name), `${where}: a call of the user`)
    case 'tool_result':
      must(role === 'user', `${where}: a result of the assistant`)
      for (const inner of list(part.content)) messagesPart(inner, 'user', must, where)
      return
    default:
      return must(false, `${where}: part ${part.type}`)
  }
}

/** Gemini: the answers to one group of calls are one message, as many as there were calls and under their names. */
function gemini(body: Body, must: Must): void {
  const all = list(body.contents)
  must(all[0]?.role === 'user', 'the first turn is no turn of the user')
  must(all.at(-1)?.role === 'user', 'the last turn is no turn of the user')
  all.forEach((content, at) => {
    const where = `contents[${at}]`
    const parts = list(content.parts)
    must(content.role === 'user' || content.role === 'model', `${where}: role ${content.role}`)
    must(parts.length > 0, `${where}: empty`)
    const names = (key: string, of: Body | undefined) =>
      list(of?.parts).flatMap((part) => (part[key] ? [`${part[key].id} ${part[key].name}`] : []))
    const calls = names('functionCall', content)
    const answers = names('functionResponse', content)
    if (calls.length > 0)
      must(
        JSON.stringify(names('functionResponse', all[at + 1])) === JSON.stringify(calls),
        `${where}: the next message does not answer ${calls.join(', ')}`,
      )
    if (answers.length > 0) {
      must(names('functionCall', all[at - 1]).length === answers.length, `${where}: answers without calls`)
      must(answers.length === parts.length, `${where}: answers stand beside other parts`)
    }
    for (const part of parts) geminiPart(part, content.role, must, where)
  })
}

function geminiPart(part: Body, role: string, must: Must, where: string): void {
  if (part.functionCall) {
    must(role === 'model' && isText(part.functionCall.name), `${where}: a call of the user`)
    return must(typeof part.functionCall.args === 'object', `${where}: args are no object`)
  }
  if (part.functionResponse) {
    must(role === 'user', `${where}: an answer of the model`)
    const { response } = part.functionResponse
    return must(typeof response === 'object' && response !== null, `${where}: the response is no object`)
  }
  if (part.inlineData) {
    must(role === 'user', `${where}: an image in an answer`)
    return must(BASE64.test(part.inlineData.data) && /^image\//.test(part.inlineData.mimeType), `${where}: inline data`)
  }
  if (part.thought) return must(isText(part.thoughtSignature), `${where}: a thought without signature`)
  must(isShown(part.text) || (part.text === '' && isText(part.thoughtSignature)), `${where}: a blank text`)
}
