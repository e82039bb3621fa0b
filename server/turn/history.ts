import type { Message } from '../wire/messages.ts'
import { listOf } from '../projection/append-list.ts'
import { modelHistory, type SurfaceNode, type SurfaceState } from '../projection/surface.ts'

/** What a request takes from the surface: the repaired messages, and the latest system prompt and runtime context in it. */
export interface Histories {
  messages: readonly Message[]
  system: SurfaceNode | undefined
  runtimeContext: Message | undefined
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

  of(surface: SurfaceState): Histories {
    if (surface === this.#surface) return this.#last
    const nodes = this.#appended(surface) ?? surface.items.slice(0, surface.length)
    this.#last = extended(nodes.length < surface.length ? this.#last : EMPTY, nodes)
    this.#settled = pairing(nodes) === 'settled'
    this.#surface = surface
    return this.#last
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
