import type { Json } from '../../wire/json.ts'
import type { CallConfig, RequestHeader, ToolSpec } from '../../wire/messages.ts'
import type { BuiltRequest } from '../port.ts'
import { canonicalJson, canonicalMessages, digest, type CanonicalMessage, type Placeholders } from './canonical.ts'

/** One request as the cassette identifies it: `links[0]` covers config, system and tools, `links[i]` message i on top. */
export interface Fingerprint {
  config: CallConfig
  adapterDefaults?: RequestHeader['adapterDefaults']
  /** Digest of the system text. */
  system: string
  systemText: string
  /** `name@digest` per tool, in order. */
  tools: string[]
  messages: CanonicalMessage[]
  links: string[]
}

export const toolTag = (tool: ToolSpec): string => `${tool.name}@${digest(canonicalJson(tool))}`

export function fingerprint(header: RequestHeader, request: BuiltRequest, placeholders: Placeholders): Fingerprint {
  const systemText = placeholders.encode(request.system)
  const head = {
    config: header.config,
    ...(header.adapterDefaults && { adapterDefaults: header.adapterDefaults }),
    system: digest(systemText),
    tools: request.tools.map(toolTag),
  }
  const messages = canonicalMessages(request.messages, placeholders)
  let link = digest(canonicalJson(head))
  const links = [link]
  for (const message of messages) {
    link = digest(link + canonicalJson(message))
    links.push(link)
  }
  return { ...head, systemText, messages, links }
}

export interface RecordedChain {
  config: Json
  system: string
  tools: string[]
  links: string[]
  messages: CanonicalMessage[]
}

/** Where a live request first leaves the recorded one, in words a person can act on. */
export function firstDifference(recorded: RecordedChain, live: Fingerprint): string {
  const at = live.links.findIndex((link, index) => link !== recorded.links[index])
  if (at === 0) return headDifference(recorded, live)
  if (at > 0) {
    const was = recorded.messages[at - 1]
    const now = live.messages[at - 1]
    if (!was) return `message ${at} is new:\n${indent(show(now))}`
    return `message ${at} differs:\n${lineDifference(show(was), show(now))}`
  }
  if (recorded.links.length > live.links.length) {
    const missing = recorded.messages[live.links.length - 1]
    return `message ${live.links.length} of the recording is missing:\n${indent(show(missing))}`
  }
  return 'the requests are equal'
}

function headDifference(recorded: RecordedChain, live: Fingerprint): string {
  const parts: string[] = []
  if (canonicalJson(recorded.config) !== canonicalJson(live.config))
    parts.push(
      `the call config differs:\n${lineDifference(canonicalJson(recorded.config), canonicalJson(live.config))}`,
    )
  if (recorded.system !== live.system) parts.push(`the system text differs; it is now:\n${indent(live.systemText)}`)
  const gone = recorded.tools.filter((tool) => !live.tools.includes(tool))
  const added = live.tools.filter((tool) => !recorded.tools.includes(tool))
  if (gone.length + added.length > 0)
    parts.push(`the tools differ: recorded only ${gone.join(', ') || 'none'}; now only ${added.join(', ') || 'none'}`)
  else if (canonicalJson(recorded.tools) !== canonicalJson(live.tools)) parts.push('the order of the tools differs')
  return parts.join('\n') || 'the adapter defaults differ'
}

const indent = (text: string) => text.replace(/^/gm, '  ')

function show(message: CanonicalMessage | undefined): string {
  if (!message) return '(none)'
  return message.content
    .map((block) => {
      const { type, text, ...rest } = block as { type: string; text?: string }
      return text === undefined
        ? `${message.role} ${canonicalJson({ type, ...rest })}`
        : `${message.role} ${type}: ${text}`
    })
    .join('\n')
}

/** The first line that differs, with one line before it. */
function lineDifference(was: string, now: string): string {
  const a = was.split('\n')
  const b = now.split('\n')
  const at = a.findIndex((line, index) => line !== b[index])
  const line = at < 0 ? a.length : at
  const context = line > 0 ? [`    ${a[line - 1]}`] : []
  return [...context, `  - ${a[line] ?? '(end)'}`, `  + ${b[line] ?? '(end)'}`].join('\n')
}
