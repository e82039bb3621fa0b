import { toWireError, type WireError } from '../wire/errors.ts'
import type { LogEvent } from '../wire/events.ts'
import type { GenerationRef } from '../wire/presets.ts'
import type { Snapshot, Writer } from '../wire/protocol.ts'
import type { GlobalState, SessionRow } from '../wire/views.ts'
import type { Delta, Feed, ToolOutput } from '../session/feed.ts'
import { eventText, lastPage } from '../session/page.ts'
import type { SessionView } from '../session/view.ts'
import { Channel } from './channel.ts'
import { Missed } from './missed.ts'

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

/** What one tab shows of one session. */
interface Seat {
  view: SessionView
  /** The tab has skipped frames: it gets nothing more before its next snapshot. */
  lagging: boolean
}

interface Tab {
  /** Counts the looks that ended, so that an answer which comes too late is not sent. */
  detached: Map<string, number>
  /** Host-wide changes that a congested tab is owed; undefined while it keeps up. */
  missed: Missed | undefined
}

/**
 * Fans a session's facts and transient text out to the tabs that show it.
 * A slow tab never holds up a turn: it skips frames, and once its socket has drained it gets a fresh snapshot of what it
 * shows and the last state of what it missed.
 */
export class Hub implements Feed {
  readonly #open: (session: string) => Promise<SessionView>
  readonly #attend: (session: string, looks: boolean) => void
  readonly #seats = new Map<string, Map<Viewer, Seat>>()
  /** Transient text, kept also while no tab shows the session, for the tab that comes in the middle. */
  readonly #channels = new Map<string, Channel>()
  readonly #tabs = new Map<Viewer, Tab>()

  /** `open` is answered by one `release` of the view; `attend` hears of the first tab that shows a session, and of the last that left. */
  constructor(
    open: (session: string) => Promise<SessionView>,
    attend: (session: string, looks: boolean) => void = () => {},
  ) {
    this.#open = open
    this.#attend = attend
  }

  open(viewer: Viewer): void {
    this.#tabs.set(viewer, { detached: new Map(), missed: undefined })
  }

  closed(viewer: Viewer): void {
    this.#tabs.delete(viewer)
    for (const session of this.#seats.keys()) this.#leave(viewer, session)
  }

  /** Adds the tab and sends what it lacks, in one tick: nothing can fall between page and follow-up. */
  async attach(viewer: Viewer, session: string, after?: number): Promise<void> {
    const tab = this.#tabs.get(viewer)
    if (!tab) return
    const look = tab.detached.get(session) ?? 0
    const stays = () => this.#tabs.get(viewer) === tab && (tab.detached.get(session) ?? 0) === look
    let view: SessionView
    try {
      view = await this.#open(session)
    } catch (error) {
      if (!stays()) return
      this.#leave(viewer, session)
      return viewer.send(JSON.stringify({ t: 'attach-failed', session, error: toWireError(error) }))
    }
    // The tab has gone or looks elsewhere by now.
    if (!stays()) return view.release()
    this.#sit(viewer, { view, lagging: false }, after)
  }

  detach(viewer: Viewer, session: string): void {
    const tab = this.#tabs.get(viewer)
    tab?.detached.set(session, (tab.detached.get(session) ?? 0) + 1)
    this.#leave(viewer, session)
  }

  shows(viewer: Viewer, session: string): boolean {
    return this.#seats.get(session)?.has(viewer) ?? false
  }

  viewers(session: string): number {
    return this.#seats.get(session)?.size ?? 0
  }

  events(session: string, events: readonly LogEvent[]): void {
    this.#channels.get(session)?.settle(events)
    if (events.some((event) => event.type === 'turn/end')) this.#endChannel(session)
    if (!this.#seats.has(session)) return
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

  writer(session: string, writer: Writer, readOnly?: WireError, composition?: GenerationRef): void {
    const status = { ...(readOnly && { readOnly }), ...(composition && { composition }) }
    this.#each(session, JSON.stringify({ t: 'writer', session, writer, ...status }))
  }

  rows(rows: SessionRow[], removed: string[]): void {
    for (const id of removed) this.#endChannel(id)
    this.#broadcast(JSON.stringify({ t: 'sessions', rows, removed }), (missed) => missed.rows(rows, removed))
  }

  global(part: Partial<GlobalState>): void {
    this.#broadcast(JSON.stringify({ t: 'global', ...part }), (missed) => missed.global(part))
  }

  close(): void {
    for (const session of this.#channels.keys()) this.#endChannel(session)
    for (const viewer of this.#tabs.keys()) this.closed(viewer)
  }

  #sit(viewer: Viewer, seat: Seat, after: number | undefined): void {
    const { id } = seat.view
    const seats = this.#seats.get(id) ?? new Map<Viewer, Seat>()
    this.#seats.set(id, seats)
    seats.get(viewer)?.view.release()
    seats.set(viewer, seat)
    if (seats.size === 1) this.#attend(id, true)
    // A tab that reads nothing must not heap up answers either; what it asked for comes once it has drained.
    if (viewer.congested) return this.#lag(viewer, seat)
    viewer.send(answer(seat.view, after))
    for (const frame of this.#channels.get(id)?.current() ?? []) viewer.send(frame)
  }

  #leave(viewer: Viewer, session: string): void {
    const seats = this.#seats.get(session)
    const seat = seats?.get(viewer)
    if (!seats || !seat) return
    seats.delete(viewer)
    if (seats.size === 0) {
      this.#seats.delete(session)
      this.#attend(session, false)
    }
    seat.view.release()
  }

  #each(session: string, frame: string): void {
    for (const [viewer, seat] of this.#seats.get(session) ?? []) {
      if (seat.lagging) continue
      if (viewer.congested) this.#lag(viewer, seat)
      else viewer.send(frame)
    }
  }

  #broadcast(frame: string, miss: (missed: Missed) => void): void {
    for (const [viewer, tab] of this.#tabs) {
      if (viewer.congested) this.#owe(viewer, tab)
      if (tab.missed) miss(tab.missed)
      else viewer.send(frame)
    }
  }

  #lag(viewer: Viewer, seat: Seat): void {
    seat.lagging = true
    const tab = this.#tabs.get(viewer)
    if (tab) this.#owe(viewer, tab)
  }

  /** From now until its socket has drained the tab gets no host-wide frames: they add up to one. */
  #owe(viewer: Viewer, tab: Tab): void {
    if (tab.missed) return
    tab.missed = new Missed()
    viewer.onDrained(() => {
      if (this.#tabs.get(viewer) !== tab) return
      const frames = tab.missed?.frames() ?? []
      tab.missed = undefined
      for (const frame of frames) viewer.send(frame)
      for (const [session, seats] of this.#seats) if (seats.get(viewer)?.lagging) void this.attach(viewer, session)
    })
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
}

function answer(view: SessionView, after: number | undefined): string {
  const { events } = view
  const last = events.length - 1
  const session = JSON.stringify(view.id)
  const [writer, readOnly, composition] = [view.writer(), view.readOnly(), view.composition()]
  const status = JSON.stringify({ writer, ...(readOnly && { readOnly }), ...(composition && { composition }) }).slice(
    1,
    -1,
  )
  if (after !== undefined && after >= 0 && after <= last && last - after <= REPLAY_EVENTS && !view.partial) {
    const missing = events
      .slice(after + 1)
      .map(eventText)
      .join(',')
    return `{"t":"attached","session":${session},"events":[${missing}],${status}}`
  }
  const page = lastPage(events)
  const head: Omit<Snapshot, 'events' | 'writer' | 'readOnly' | 'composition' | 't' | 'session'> = {
    header: view.header,
    state: view.state(),
    from: page[0]?.seq ?? -1,
    to: page.at(-1)?.seq ?? -1,
  }
  return `{"t":"snapshot","session":${session},"events":[${page.map(eventText).join(',')}],${status},${JSON.stringify(head).slice(1)}`
}
