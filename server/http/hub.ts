import type { WireError } from '../wire/errors.ts'
import type { LogEvent } from '../wire/events.ts'
import type { Snapshot, Writer } from '../wire/protocol.ts'
import type { SessionRow } from '../wire/views.ts'
import type { Delta, Feed, ToolOutput } from '../session/feed.ts'
import type { SessionView } from '../session/view.ts'
import { Channel } from './channel.ts'
import { eventText, lastPage } from './page.ts'

/** A gap of at most this many events is replayed; a larger one gets a snapshot. */
const REPLAY_EVENTS = 2_000

/** One tab. `send` drops nothing itself: it answers whether the socket still takes text. */
export interface Viewer {
  send(frame: string): void
  /** True while too many bytes wait in this tab's socket. */
  readonly congested: boolean
  /** Called once when the socket has drained after congestion. */
  onDrained(resume: () => void): void
}

interface Attached {
  view: SessionView
  viewers: Set<Viewer>
}

/**
 * Fans a session's facts and transient text out to the tabs that show it.
 * A slow tab never holds up a turn: it skips frames and gets a fresh snapshot once its socket has drained.
 */
export class Hub implements Feed {
  readonly #attached = new Map<string, Attached>()
  /** Transient text, kept also while no tab shows the session, for the tab that comes in the middle. */
  readonly #channels = new Map<string, Channel>()
  readonly #lagging = new WeakMap<Viewer, Set<string>>()
  readonly #tabs = new Set<Viewer>()

  open(viewer: Viewer): void {
    this.#tabs.add(viewer)
  }

  closed(viewer: Viewer): void {
    this.#tabs.delete(viewer)
    for (const session of this.#attached.keys()) this.detach(viewer, session)
  }

  /** Adds the tab and sends what it lacks, in one tick: nothing can fall between page and follow-up. */
  attach(viewer: Viewer, view: SessionView, after?: number): void {
    const entry = this.#attached.get(view.id) ?? { view, viewers: new Set() }
    entry.view = view
    this.#attached.set(view.id, entry)
    entry.viewers.add(viewer)
    viewer.send(this.#answer(view, after))
    for (const frame of this.#channels.get(view.id)?.current() ?? []) viewer.send(frame)
  }

  detach(viewer: Viewer, session: string): void {
    const entry = this.#attached.get(session)
    if (!entry?.viewers.delete(viewer) || entry.viewers.size > 0) return
    this.#attached.delete(session)
    entry.view.release()
  }

  viewers(session: string): number {
    return this.#attached.get(session)?.viewers.size ?? 0
  }

  events(session: string, events: readonly LogEvent[]): void {
    this.#channels.get(session)?.settle(events)
    if (events.some((event) => event.type === 'turn/end')) this.#endChannel(session)
    if (!this.#attached.has(session)) return
    this.#each(
      session,
      `{"t":"events","session":${JSON.stringify(session)},"events":[${events.map(eventText).join(',')}]}`,
    )
  }

  delta(session: string, delta: Delta): void {
    this.#channel(session).delta(delta)
  }

  output(session: string, output: ToolOutput): void {
    this.#channel(session).output(output)
  }

  writer(session: string, writer: Writer, readOnly?: WireError): void {
    this.#each(session, JSON.stringify({ t: 'writer', session, writer, ...(readOnly && { readOnly }) }))
  }

  rows(rows: SessionRow[], removed: string[]): void {
    this.broadcast(JSON.stringify({ t: 'sessions', rows, removed }))
  }

  broadcast(frame: string): void {
    for (const tab of this.#tabs) if (!tab.congested) tab.send(frame)
  }

  close(): void {
    for (const session of this.#channels.keys()) this.#endChannel(session)
    this.#attached.clear()
  }

  #channel(session: string): Channel {
    const known = this.#channels.get(session)
    if (known) return known
    const channel = new Channel(session, (frame) => this.#each(session, frame))
    this.#channels.set(session, channel)
    return channel
  }

  #endChannel(session: string): void {
    this.#channels.get(session)?.close()
    this.#channels.delete(session)
  }

  #each(session: string, frame: string): void {
    const entry = this.#attached.get(session)
    if (!entry) return
    for (const viewer of entry.viewers) {
      if (this.#lags(viewer, entry)) continue
      viewer.send(frame)
    }
  }

  #lags(viewer: Viewer, entry: Attached): boolean {
    const session = entry.view.id
    const lagging = this.#lagging.get(viewer) ?? new Set<string>()
    if (lagging.has(session)) return true
    if (!viewer.congested) return false
    lagging.add(session)
    this.#lagging.set(viewer, lagging)
    viewer.onDrained(() => {
      lagging.delete(session)
      if (entry.viewers.has(viewer)) this.attach(viewer, entry.view)
    })
    return true
  }

  #answer(view: SessionView, after: number | undefined): string {
    const { events } = view
    const last = events.length - 1
    const session = JSON.stringify(view.id)
    const status = `"writer":${JSON.stringify(view.writer())}${view.readOnly() ? `,"readOnly":${JSON.stringify(view.readOnly())}` : ''}`
    if (after !== undefined && after >= 0 && after <= last && last - after <= REPLAY_EVENTS && !view.partial) {
      const missing = events
        .slice(after + 1)
        .map(eventText)
        .join(',')
      return `{"t":"attached","session":${session},"events":[${missing}],${status}}`
    }
    const page = lastPage(events)
    const head: Omit<Snapshot, 'events' | 'writer' | 'readOnly' | 't' | 'session'> = {
      header: view.header,
      state: view.state(),
      from: page[0]?.seq ?? -1,
      to: page.at(-1)?.seq ?? -1,
    }
    return `{"t":"snapshot","session":${session},"events":[${page.map(eventText).join(',')}],${status},${JSON.stringify(head).slice(1)}`
  }
}
