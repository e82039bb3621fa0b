import type { Message, ToolSpec } from '../wire/messages.ts'
import { listOf } from '../projection/append-list.ts'
import { callsOf, carryAsText } from '../projection/carried.ts'
import { modelHistory, placedHistory, type Placed, type SurfaceNode, type SurfaceState } from '../projection/surface.ts'

/** What a request takes from the surface: the repaired messages, and the latest system prompt and runtime context in it. */
export interface Histories {
  messages: readonly Message[]
  system: SurfaceNode | undefined
  runtimeContext: Message | undefined
}

/** The beginning of the messages that another session made, up to the last of them. */
interface Inherited {
  placed: readonly Placed[]
  /** Tools that it calls. */
  tools: ReadonlySet<string>
  /** The same messages without the calls of the tools named. */
  retold?: { missing: string; messages: readonly Message[] }
}

const EMPTY: Histories = { messages: [], system: undefined, runtimeContext: undefined }

/**
 * Keeps the history of the last request and adds to it what was appended since: a long session must not pay for its whole
 * length at every step. A replacement, or a call that was still open, makes it anew.
 */
export class History {
  #surface: SurfaceState | undefined
  #last: Histories = EMPTY
  #settled = true
  #inherited: Inherited | undefined

  of(surface: SurfaceState): Histories {
    if (surface === this.#surface) return this.#last
    const nodes = this.#appended(surface) ?? surface.items.slice(0, surface.length)
    const anew = nodes.length === surface.length
    this.#last = extended(anew ? EMPTY : this.#last, nodes)
    if (anew) this.#inherited = undefined
    this.#settled = pairing(nodes) === 'settled'
    this.#surface = surface
    return this.#last
  }

  /**
   * The messages of a request with `tools`: calls that were inherited (from before seq `until`) and that no tool answers to
   * here are retold in text. A session that inherited nothing pays nothing for it.
   */
  sent(surface: SurfaceState, until: number | null, tools: readonly Pick<ToolSpec, 'name'>[]): readonly Message[] {
    const { messages } = this.of(surface)
    if (until === null) return messages
    this.#inherited ??= inheritedPart(surface, until)
    const part = this.#inherited
    const known = new Set(tools.map(({ name }) => name))
    const missing = [...part.tools].filter((name) => !known.has(name))
    if (missing.length === 0) return messages
    const key = JSON.stringify(missing)
    if (part.retold?.missing !== key)
      part.retold = {
        missing: key,
        messages: carryAsText(part.placed, (name, seq) => seq < until && !known.has(name)),
      }
    return part.retold.messages.concat(messages.slice(part.placed.length))
  }

  /** The nodes since the last reading, when nothing before them is touched by them. */
  #appended(surface: SurfaceState): readonly SurfaceNode[] | undefined {
    const known = this.#surface
    if (!known?.length || !this.#settled) return undefined
    if (known.items !== surface.items || known.length > surface.length) return undefined
    const nodes = surface.items.slice(known.length, surface.length)
    return pairing(nodes) === 'orphan' ? undefined : nodes
  }
}

function extended(before: Histories, added: readonly SurfaceNode[]): Histories {
  const messages = modelHistory(listOf(added)).filter((message) => message.role !== 'system')
  return {
    messages: before.messages.length ? before.messages.concat(messages) : messages,
    system: added.findLast((node) => node.type === 'system/message') ?? before.system,
    runtimeContext:
      added.findLast((node) => node.message.source.kind === 'runtime-context')?.message ?? before.runtimeContext,
  }
}

function inheritedPart(surface: SurfaceState, until: number): Inherited {
  const history = placedHistory(surface).filter(({ message }) => message.role !== 'system')
  const placed = history.slice(0, history.findLastIndex(({ seq }) => seq < until) + 1)
  const calls = placed.flatMap(({ seq, message }) => (seq < until ? callsOf(message) : []))
  return { placed, tools: new Set(calls.map(({ name }) => name)) }
}

/** Whether each result among the nodes answers a call among them, and whether every call is answered. */
function pairing(nodes: readonly SurfaceNode[]): 'settled' | 'open' | 'orphan' {
  const open = new Map<string, number>()
  let orphan = false
  for (const { message } of nodes)
    for (const block of message.content) {
      if (block.type === 'tool-call') open.set(block.id, (open.get(block.id) ?? 0) + 1)
      if (block.type !== 'tool-result') continue
      const left = (open.get(block.toolCallId) ?? 0) - 1
      if (left < 0) orphan = true
      if (left === 0) open.delete(block.toolCallId)
      if (left > 0) open.set(block.toolCallId, left)
    }
  if (orphan) return 'orphan'
  return open.size === 0 ? 'settled' : 'open'
}
