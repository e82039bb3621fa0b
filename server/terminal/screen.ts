import { Colours } from './colours.ts'
import { OWN_MARK } from './control.ts'
import { Ring } from './ring.ts'
import type { ShellView } from '../wire/safety.ts'

/** Text goes out at once on the leading edge, then at most once per this many ms. */
const WINDOW_MS = 16
/** Bytes kept for whoever comes late, and shown of a flood in one window. */
const RECENT = 64 * 1024

/** One who watches. */
export interface Watcher {
  send(view: ShellView, text?: string): void
}

/** The shell that is watched, as far as a person may see and touch it. */
export interface Watched {
  view(): Omit<ShellView, 'answering'>
  /** The call that would read what is typed; undefined when none does. `hidden`: the terminal does not show it. */
  asks(): Promise<{ callId: string; hidden: boolean } | undefined>
  /** `before` is done once it is certain that it will be typed. False: it was not. */
  type(text: string, before: () => void): boolean
  /** A person answers from now on, or no more. */
  answered(on: boolean): void
}

const NOBODY: Omit<ShellView, 'answering'> = { running: null, hidden: false }

/** One agent's terminal as people watch it: read-only, coalesced, with a recent tail for whoever comes late. */
export class Screen {
  readonly #log: (change: { watching: boolean; answering: boolean }) => void
  readonly #idle: () => void
  readonly #watchers = new Map<Watcher, { answering: boolean }>()
  readonly #recent = new Ring(0, RECENT)
  readonly #pending = new Ring(0, RECENT)
  #colours = new Colours(OWN_MARK)
  #source: Watched | undefined
  #logged = { watching: false, answering: false }
  #told = ''
  #timer: NodeJS.Timeout | undefined
  #last = -Infinity

  /** `idle` is told when there is neither a shell nor anybody who looks. */
  constructor(log: (change: { watching: boolean; answering: boolean }) => void, idle: () => void = () => undefined) {
    this.#log = log
    this.#idle = idle
  }

  get answering(): boolean {
    for (const { answering } of this.#watchers.values()) if (answering) return true
    return false
  }

  get watched(): boolean {
    return this.#watchers.size > 0
  }

  get source(): Watched | undefined {
    return this.#source
  }

  view(): ShellView {
    return { ...(this.#source?.view() ?? NOBODY), answering: this.answering }
  }

  /** A shell is there to be watched: who looks already is told of in the log from here on. */
  use(source: Watched): void {
    this.#source = source
    this.#recent.clear()
    this.#pending.clear()
    this.#note()
    this.changed()
  }

  left(source: Watched): void {
    if (this.#source !== source) return
    this.#source = undefined
    this.#logged = { watching: false, answering: false }
    this.changed()
    this.#tidy()
  }

  /** The same one again changes whether it answers. A new one gets the recent text in a frame of its own. */
  watch(watcher: Watcher, answering: boolean): ShellView {
    const known = this.#watchers.get(watcher)
    if (!known) this.#flush()
    this.#watchers.set(watcher, { answering })
    this.#note()
    const view = this.view()
    if (!known) watcher.send(view, this.#tail())
    this.changed()
    return view
  }

  unwatch(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher)) return
    this.#note()
    this.changed()
    this.#tidy()
  }

  #tidy(): void {
    if (this.#watchers.size === 0 && !this.#source) this.#idle()
  }

  output(chunk: Buffer): void {
    this.#recent.push(chunk)
    if (this.#watchers.size === 0) return
    this.#pending.push(chunk)
    this.#schedule()
  }

  /** The view may have another value. */
  changed(): void {
    if (this.#watchers.size > 0) this.#schedule()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#watchers.clear()
  }

  #note(): void {
    const { answering, watched: watching } = this
    this.#source?.answered(answering)
    if (!this.#source || (watching === this.#logged.watching && answering === this.#logged.answering)) return
    this.#logged = { watching, answering }
    this.#log(this.#logged)
  }

  #schedule(): void {
    if (this.#timer) return
    const wait = Math.max(0, this.#last + WINDOW_MS - performance.now())
    this.#timer = setTimeout(() => this.#flush(), wait)
    this.#timer.unref()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#last = performance.now()
    const { tail, omitted } = this.#pending.kept()
    this.#pending.clear()
    if (this.#watchers.size === 0) return
    const view = this.view()
    const text = tail.length === 0 ? '' : this.#shown(tail, omitted)
    const state = JSON.stringify(view)
    if (text === '' && state === this.#told) return
    this.#told = state
    for (const watcher of this.#watchers.keys()) watcher.send(view, ...(text === '' ? [] : [text]))
  }

  #shown(bytes: Buffer, omitted: number): string {
    if (omitted > 0) this.#colours.reset()
    const text = this.#colours.push(bytes)
    return omitted > 0 ? `\n[${omitted} bytes not shown]\n${text}` : text
  }

  /** Cleaned anew, from a line's beginning where something is missing before it. What is incomplete at the end comes with the next piece. */
  #tail(): string {
    const { tail, omitted } = this.#recent.kept()
    const fresh = new Colours(OWN_MARK)
    this.#colours = fresh
    return fresh.push(omitted > 0 ? tail.subarray(tail.indexOf(10) + 1) : tail)
  }
}
