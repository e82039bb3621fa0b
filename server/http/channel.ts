import type { LogEvent } from '../wire/events.ts'
import type { DeltaFrame, ToolOutputFrame } from '../wire/protocol.ts'
import type { Delta, ToolOutput } from '../session/feed.ts'

/** Transient text goes out at once on the leading edge, then at most once per this many ms and session. */
const WINDOW_MS = 16
/** Characters of a running tool's output kept for a tab that attaches late. */
const OUTPUT_TAIL = 64 * 1024

interface BlockText {
  kind: Delta['kind']
  name: string | undefined
  text: string
  /** UTF-16 units already sent. */
  sent: number
}

interface Output {
  turn: number
  step: number
  total: number
  tail: string
  pending: string
}

/**
 * The transient half of one session: text of the running answer and output of running tools.
 * Everything here is superseded by logged events and may be lost without losing a fact.
 */
export class Channel {
  readonly #session: string
  readonly #send: (frame: string) => void
  readonly #now: () => number
  #at: { turn: number; step: number; attempt: number } | undefined
  readonly #blocks = new Map<number, BlockText>()
  readonly #dirty = new Set<number>()
  readonly #outputs = new Map<string, Output>()
  #timer: NodeJS.Timeout | undefined
  #lastFlush = 0

  constructor(session: string, send: (frame: string) => void, now: () => number = () => performance.now()) {
    this.#session = session
    this.#send = send
    this.#now = now
  }

  delta(delta: Delta): void {
    const at = this.#at
    if (!at || at.turn !== delta.turn || at.step !== delta.step || at.attempt !== delta.attempt) {
      this.#clearText()
      this.#at = { turn: delta.turn, step: delta.step, attempt: delta.attempt }
    }
    const block = this.#blocks.get(delta.block)
    if (block) block.text += delta.text
    else this.#blocks.set(delta.block, { kind: delta.kind, name: delta.name, text: delta.text, sent: 0 })
    this.#dirty.add(delta.block)
    this.#schedule()
  }

  output({ turn, step, callId, text }: ToolOutput): void {
    const output = this.#outputs.get(callId) ?? { turn, step, total: 0, tail: '', pending: '' }
    output.total += text.length
    output.tail = (output.tail + text).slice(-OUTPUT_TAIL)
    output.pending = (output.pending + text).slice(-OUTPUT_TAIL)
    this.#outputs.set(callId, output)
    this.#schedule()
  }

  /** Logged facts end the transient text that they replace. */
  settle(events: readonly LogEvent[]): void {
    for (const event of events) {
      if (event.type === 'assistant/message' || event.type === 'assistant/attempt' || event.type === 'llm/retry')
        this.#clearText()
      if (event.type === 'tool/result' && event.data.message.source.kind === 'tool')
        this.#outputs.delete(event.data.message.source.callId)
      if (event.type === 'turn/end') {
        this.#clearText()
        this.#outputs.clear()
      }
    }
  }

  /** Everything transient so far, for a tab that attaches in the middle. */
  current(): string[] {
    const frames: string[] = []
    if (this.#at) for (const [index, block] of this.#blocks) frames.push(this.#deltaFrame(index, block, 0))
    for (const [callId, output] of this.#outputs) frames.push(this.#outputFrame(callId, output, output.tail))
    return frames
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #schedule(): void {
    if (this.#timer) return
    const wait = this.#lastFlush + WINDOW_MS - this.#now()
    if (wait <= 0) return this.#flush()
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#flush()
    }, wait)
    this.#timer.unref()
  }

  #flush(): void {
    this.#lastFlush = this.#now()
    for (const index of this.#dirty) {
      const block = this.#blocks.get(index)!
      this.#send(this.#deltaFrame(index, block, block.sent))
      block.sent = block.text.length
    }
    this.#dirty.clear()
    for (const [callId, output] of this.#outputs) {
      if (!output.pending) continue
      this.#send(this.#outputFrame(callId, output, output.pending))
      output.pending = ''
    }
  }

  #deltaFrame(index: number, block: BlockText, from: number): string {
    const frame: DeltaFrame = {
      t: 'delta',
      session: this.#session,
      ...this.#at!,
      block: index,
      kind: block.kind,
      ...(block.name !== undefined && { name: block.name }),
      offset: from,
      text: block.text.slice(from),
    }
    return JSON.stringify(frame)
  }

  #outputFrame(callId: string, output: Output, text: string): string {
    const frame: ToolOutputFrame = {
      t: 'tool-output',
      session: this.#session,
      turn: output.turn,
      step: output.step,
      callId,
      offset: output.total - text.length,
      text,
    }
    return JSON.stringify(frame)
  }

  #clearText(): void {
    this.#at = undefined
    this.#blocks.clear()
    this.#dirty.clear()
  }
}
