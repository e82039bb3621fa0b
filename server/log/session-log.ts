import { CoreError } from '../wire/errors.ts'
import type { Draft, Header, LogEvent } from '../wire/events.ts'
import type { Projection } from '../projection/projection.ts'
import { frozenJson } from './json-value.ts'
import type { EventLog } from './port.ts'
import { isIgnorableType, isSurfaceType, Vocabulary, vocabularyDraft } from './vocabulary.ts'
import type { LogWriter } from './writer.ts'

export interface SessionLogOptions {
  /** Already committed events, e.g. read from disk: frozen, contiguous from 0. */
  events?: LogEvent[]
  writer?: LogWriter | null
  /** Set for a log that must not grow, with the reason. */
  refusal?: CoreError | null
  vocabulary?: Vocabulary
  now?: () => number
  /** An observer threw; the commit stands. */
  onObserverError?: (error: unknown) => void
}

interface CachedState {
  projection: Projection<unknown>
  state: unknown
  /** Number of events folded. */
  folded: number
}

const NO_JOURNAL: EventLog['journal'] = { begin: () => {}, note: () => {}, end: () => {} }

/** The log of one session: commits in memory in one tick; a writer, where there is one, follows behind. */
export class SessionLog implements EventLog {
  readonly header: Header
  readonly journal: EventLog['journal']
  readonly #events: LogEvent[]
  readonly #writer: LogWriter | null
  readonly #vocabulary: Vocabulary
  readonly #now: () => number
  readonly #onObserverError: (error: unknown) => void
  readonly #observers = new Set<{ tell: (events: readonly LogEvent[]) => void }>()
  readonly #states = new Map<string, CachedState>()
  #declared: Set<string> | null = null
  #refusal: CoreError | null
  #committing = false

  constructor(header: Header, options: SessionLogOptions = {}) {
    this.header = frozenJson(header)
    this.#events = options.events ?? []
    this.#writer = options.writer ?? null
    this.#refusal = options.refusal ?? null
    this.#vocabulary = options.vocabulary ?? new Vocabulary()
    this.#now = options.now ?? Date.now
    this.#onObserverError = options.onObserverError ?? ((error) => console.error('log observer failed:', error))
    this.#writer?.start({ header: this.header, events: this.#events })
    this.journal = this.#writer?.journal ?? NO_JOURNAL
  }

  /** A log without a file: for tests and for hosts without persistence. */
  static memory(header: Header, options: Omit<SessionLogOptions, 'writer'> = {}): SessionLog {
    return new SessionLog(header, options)
  }

  get events(): readonly LogEvent[] {
    return this.#events
  }

  /** `seq` of the last event; -1 when there is none. */
  get lastSeq(): number {
    return this.#events.length - 1
  }

  /** Why `append` would refuse now; null while the log takes events. */
  get refusal(): CoreError | null {
    return this.#refusal ?? this.#writer?.refusal ?? null
  }

  append(...drafts: Draft[]): LogEvent[] {
    return this.#commit(drafts, this.#now())
  }

  /** Appends with the last event's timestamp: what a repair adds did not happen now (SL-12). */
  appendRepair(...drafts: Draft[]): LogEvent[] {
    return this.#commit(drafts, this.#events.at(-1)?.time ?? this.header.createdAt)
  }

  barrier(): Promise<void> {
    if (this.#refusal) return Promise.reject(this.#refusal)
    return this.#writer?.barrier() ?? Promise.resolve()
  }

  state<S>(projection: Projection<S>): S {
    let cached = this.#states.get(projection.key)
    if (cached?.projection !== projection) {
      cached = { projection, state: projection.init(this.header), folded: 0 }
      this.#states.set(projection.key, cached)
    }
    while (cached.folded < this.#events.length) {
      cached.state = projection.apply(cached.state as S, this.#events[cached.folded]!)
      cached.folded++
    }
    return cached.state as S
  }

  observe(observer: (events: readonly LogEvent[]) => void): () => void {
    const entry = { tell: observer }
    this.#observers.add(entry)
    return () => void this.#observers.delete(entry)
  }

  /** Told when the disk begins to refuse writes (with the reason), and with null when it takes them again. */
  onRefusal(listener: (refusal: CoreError | null) => void): () => void {
    return this.#writer?.onRefusal(listener) ?? (() => {})
  }

  /** After a refusal: writes what was kept in memory. Rejects while the disk still refuses. */
  async retry(): Promise<void> {
    if (this.#refusal) throw this.#refusal
    await this.#writer?.retry()
  }

  /** Brings everything to disk and ends the log; later appends are refused. */
  async close(): Promise<void> {
    this.#refusal ??= new CoreError('session/read-only', 'This session is closed. Open it again to continue.')
    await this.#writer?.close()
  }

  #commit(drafts: readonly Draft[], now: number): LogEvent[] {
    if (this.#committing) throw new Error('re-entrant append: an observer may not append in the same commit')
    const refusal = this.refusal
    if (refusal) throw refusal
    const events = this.#stamp(this.#withVocabulary(drafts), now)
    if (events.length === 0) return events
    this.#committing = true
    try {
      for (const event of events) this.#events.push(event)
      this.#writer?.appended(events)
      Object.freeze(events)
      for (const observer of Array.from(this.#observers)) this.#tell(observer.tell, events)
    } finally {
      this.#committing = false
    }
    return events
  }

  #tell(observer: (events: readonly LogEvent[]) => void, events: readonly LogEvent[]): void {
    try {
      observer(events)
    } catch (error) {
      this.#onObserverError(error)
    }
  }

  /** All or nothing: a draft that is not lossless JSON throws before anything is committed. */
  #stamp(drafts: readonly Draft[], now: number): LogEvent[] {
    const time = Math.max(now, this.#events.at(-1)?.time ?? 0)
    return drafts.map((draft, index) => stamp(draft, this.#events.length + index, time))
  }

  #withVocabulary(drafts: readonly Draft[]): readonly Draft[] {
    const result: Draft[] = []
    for (const draft of drafts) {
      if (!draft.ignorable && !this.#vocabulary.knows(draft.type))
        throw new TypeError(`unknown event type ${draft.type}`)
      const owner = this.#vocabulary.ownerOf(draft.type)
      if (owner && !draft.ignorable && !this.#declaredTypes().has(draft.type)) {
        for (const type of owner.types) this.#declaredTypes().add(type)
        result.push(vocabularyDraft(owner))
      }
      result.push(draft)
    }
    return result
  }

  #declaredTypes(): Set<string> {
    this.#declared ??= new Set(
      this.#events.flatMap((event) => (event.type === 'session/vocabulary' ? event.data.types : [])),
    )
    return this.#declared
  }
}

function stamp(draft: Draft, seq: number, time: number): LogEvent {
  const { type } = draft
  const surface = isSurfaceType(type)
  if (!surface && (draft.surfaceOp !== undefined || draft.sourceEventSeqs !== undefined)) {
    throw new TypeError(`${type} is not a message event: it takes no surfaceOp and no sourceEventSeqs`)
  }
  const op = draft.surfaceOp
  if (typeof op === 'object' && !(op.startSeq <= op.endSeq && op.endSeq < seq)) {
    throw new TypeError(`surfaceOp replaces ${op.startSeq}..${op.endSeq}, which does not lie before seq ${seq}`)
  }
  const event: { -readonly [K in keyof LogEvent]: unknown } = { type, seq, time, data: frozenJson(draft.data) }
  if (draft.ignorable || isIgnorableType(type)) event.ignorable = true
  if (surface) event.surfaceOp = frozenJson(op ?? 'append')
  if (draft.sourceEventSeqs) event.sourceEventSeqs = frozenJson(draft.sourceEventSeqs)
  return Object.freeze(event) as LogEvent
}
