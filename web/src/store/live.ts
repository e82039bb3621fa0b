import { useCallback, useSyncExternalStore } from 'react'
import type { DeltaFrame, ToolOutputFrame } from '../../../server/wire/protocol.ts'
import { blockKey } from '../../../server/projection/transcript.ts'

export interface LiveBlock {
  key: string
  kind: DeltaFrame['kind']
  name?: string
  turn: number
  step: number
  attempt: number
  text: string
  /** Offset in the block up to which text was received, in UTF-16 units. */
  end: number
  startedAt: number
}

interface LiveOutput {
  text: string
  end: number
}

interface LiveSession {
  blocks: Map<string, LiveBlock>
  order: readonly LiveBlock[]
  outputs: Map<string, LiveOutput>
}

/** Characters of running output kept for one call; the host keeps as much. */
const OUTPUT_LIMIT = 64 * 1024
const NONE: readonly LiveBlock[] = []

/**
 * Text that is not in the log yet. It lives outside React: frames only append to strings, and whoever shows one of them is
 * told once per animation frame, however many deltas came in between.
 */
class Live {
  readonly #sessions = new Map<string, LiveSession>()
  readonly #listeners = new Map<string, Set<() => void>>()
  readonly #dirty = new Set<string>()
  #scheduled = false

  delta(frame: DeltaFrame): void {
    const session = this.#session(frame.session)
    const key = blockKey(frame.turn, frame.step, frame.block)
    const held = session.blocks.get(key)
    if (held && held.attempt > frame.attempt) return
    if (held && held.attempt < frame.attempt) this.endStep(frame.session, frame.turn, frame.step)
    const block = session.blocks.get(key)
    if (block) {
      append(block, frame.offset, frame.text)
      return this.#touch(`${frame.session}|${key}`)
    }
    const { kind, name, turn, step, attempt, text, offset } = frame
    const end = offset + text.length
    const fresh = { key, kind, turn, step, attempt, text, end, startedAt: Date.now(), ...(name && { name }) }
    session.blocks.set(key, fresh)
    this.#reorder(frame.session, session)
  }

  output(frame: ToolOutputFrame): void {
    const { outputs } = this.#session(frame.session)
    const held = outputs.get(frame.callId) ?? { text: '', end: 0 }
    append(held, frame.offset, frame.text)
    if (held.text.length > OUTPUT_LIMIT * 1.25) held.text = held.text.slice(-OUTPUT_LIMIT)
    outputs.set(frame.callId, held)
    this.#touch(`${frame.session}|out|${frame.callId}`)
  }

  /** The step's message or failed attempt is in the log now. */
  endStep(id: string, turn: number, step: number): void {
    const session = this.#sessions.get(id)
    if (!session) return
    let changed = false
    for (const block of session.blocks.values())
      if (block.turn === turn && block.step === step) changed = session.blocks.delete(block.key) || changed
    if (changed) this.#reorder(id, session)
  }

  endCall(id: string, callId: string): void {
    if (this.#sessions.get(id)?.outputs.delete(callId)) this.#touch(`${id}|out|${callId}`)
  }

  clear(id: string): void {
    const session = this.#sessions.get(id)
    if (!session) return
    this.#sessions.delete(id)
    this.#touch(`${id}|order`)
    for (const key of session.blocks.keys()) this.#touch(`${id}|${key}`)
    for (const callId of session.outputs.keys()) this.#touch(`${id}|out|${callId}`)
  }

  order = (id: string): readonly LiveBlock[] => this.#sessions.get(id)?.order ?? NONE
  text = (id: string, key: string): string => this.#sessions.get(id)?.blocks.get(key)?.text ?? ''
  outputText = (id: string, callId: string): string => this.#sessions.get(id)?.outputs.get(callId)?.text ?? ''

  subscribe(channel: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(channel)
    }
  }

  #session(id: string): LiveSession {
    const held = this.#sessions.get(id)
    if (held) return held
    const fresh: LiveSession = { blocks: new Map(), order: NONE, outputs: new Map() }
    this.#sessions.set(id, fresh)
    return fresh
  }

  #reorder(id: string, session: LiveSession): void {
    const before = (a: LiveBlock, b: LiveBlock) => a.turn - b.turn || a.step - b.step || blockOf(a) - blockOf(b)
    session.order = [...session.blocks.values()].sort(before)
    this.#touch(`${id}|order`)
  }

  #touch(channel: string): void {
    this.#dirty.add(channel)
    if (this.#scheduled) return
    this.#scheduled = true
    schedule(() => {
      this.#scheduled = false
      const channels = [...this.#dirty]
      this.#dirty.clear()
      for (const each of channels) for (const listener of this.#listeners.get(each) ?? []) listener()
    })
  }
}

const blockOf = (block: LiveBlock): number => Number(block.key.slice(block.key.lastIndexOf('.') + 1))

/** Text that was sent again after a reconnect replaces its overlap; a gap is left out, the logged text will fill it. */
function append(into: { text: string; end: number }, offset: number, text: string): void {
  const overlap = into.end - offset
  if (overlap >= text.length && overlap > 0) return
  into.text += overlap > 0 ? text.slice(overlap) : text
  into.end = offset + text.length
}

/** Once per frame; a hidden tab draws no frames and still has to keep up. */
export function schedule(call: () => void): void {
  if (typeof document !== 'undefined' && document.hidden) setTimeout(call, 100)
  else requestAnimationFrame(call)
}

export const live = new Live()

const useChannel = <T>(channel: string, read: () => T): T =>
  useSyncExternalStore(
    useCallback((listener) => live.subscribe(channel, listener), [channel]),
    read,
  )

export const useLiveBlocks = (session: string): readonly LiveBlock[] =>
  useChannel(`${session}|order`, () => live.order(session))
export const useLiveText = (session: string, key: string): string =>
  useChannel(`${session}|${key}`, () => live.text(session, key))
export const useLiveOutput = (session: string, callId: string): string =>
  useChannel(`${session}|out|${callId}`, () => live.outputText(session, callId))
