import type { LogEvent, SurfaceOp } from '../wire/events.ts'
import { textOf } from '../wire/messages.ts'

interface Node {
  seq: number
  /** Rank in the list: a replacement takes that of the first node it replaces. */
  rank: number
  system: string | undefined
  before: Node | undefined
  after: Node | undefined
}

/**
 * The system prompt that the surface holds after `events`; empty for none. It is what the surface fold says, in time that
 * grows with the number of events alone: the fold copies its list at every replacement.
 */
export function latestSystem(events: Iterable<LogEvent>): string {
  const list = new NodeList()
  for (const event of events) {
    switch (event.type) {
      case 'system/message':
        list.place(event.seq, textOf(event.data.message), event.surfaceOp)
        break
      case 'user/message':
      case 'developer/message':
      case 'assistant/message':
      case 'tool/result':
        list.place(event.seq, undefined, event.surfaceOp)
        break
      default:
        break
    }
  }
  return list.system()
}

class NodeList {
  readonly #nodes = new Map<number, Node>()
  #last: Node | undefined

  place(seq: number, system: string | undefined, op: SurfaceOp = 'append'): void {
    const [first, end] = op === 'append' ? [] : [this.#nodes.get(op.startSeq), this.#nodes.get(op.endSeq)]
    const node = first && end && first.rank <= end.rank ? this.#inPlaceOf(first, end) : this.#atEnd()
    Object.assign(node, { seq, system })
    if (node.before) node.before.after = node
    if (node.after) node.after.before = node
    else this.#last = node
    this.#nodes.set(seq, node)
  }

  system(): string {
    for (let node = this.#last; node; node = node.before) if (node.system !== undefined) return node.system
    return ''
  }

  #atEnd(): Node {
    const before = this.#last
    return { seq: -1, rank: (before?.rank ?? 0) + 1, system: undefined, before, after: undefined }
  }

  #inPlaceOf(first: Node, end: Node): Node {
    for (let gone: Node | undefined = first; gone && gone !== end.after; gone = gone.after) this.#nodes.delete(gone.seq)
    return { seq: -1, rank: first.rank, system: undefined, before: first.before, after: end.after }
  }
}
