import type { WireError } from '../wire/errors.ts'
import type { SessionStore } from '../log/store.ts'
import type { SessionState } from '../projection/session-state.ts'
import { ColdView } from './cold.ts'
import type { Feed } from './feed.ts'

interface Entry {
  opening: Promise<ColdView>
  view: ColdView | undefined
  /** Counted when asked for, not when open: a view that somebody waits for must not be closed under them. */
  users: number
}

export interface ColdViewsOptions {
  store: SessionStore
  feed: Feed
  refusal(state: SessionState): Promise<WireError | undefined>
}

/** The sessions that are only read here, each opened once however many tabs show it. */
export class ColdViews {
  readonly #options: ColdViewsOptions
  readonly #entries = new Map<string, Entry>()

  constructor(options: ColdViewsOptions) {
    this.#options = options
  }

  /** Every answer is given back by one `release`. Throws what reading the log throws. */
  async use(id: string): Promise<ColdView> {
    const known = this.#entries.get(id)
    const entry = known ?? this.#open(id)
    entry.users++
    const view = await entry.opening
    if (known) await view.refresh()
    return view
  }

  /** The presets changed: what could not be continued may be continued now, and the other way round. */
  async reconsider(): Promise<void> {
    await Promise.all([...this.#entries.values()].flatMap(({ view }) => (view ? [view.reconsider()] : [])))
  }

  /** The view that is open now, without counting as a user of it. */
  peek(id: string): ColdView | undefined {
    return this.#entries.get(id)?.view
  }

  /**
   * Silences the view of a session in this very tick and forgets it. Answers how many events its tabs have been told of;
   * undefined when no view was open.
   */
  end(id: string): number | undefined {
    const entry = this.#entries.get(id)
    if (!entry) return undefined
    this.#entries.delete(id)
    entry.view?.end()
    this.#close(entry)
    return entry.view?.events.length
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const { opening } of entries) {
      const view = await opening.catch(() => undefined)
      await view?.close()
    }
  }

  #open(id: string): Entry {
    const { store, feed, refusal } = this.#options
    const opening = ColdView.open(id, {
      store,
      refusal,
      onEvents: (events) => feed.events(id, events),
      onWriter: (writer, readOnly) => {
        // While it opens, the answer to the tab that waits says the same.
        if (entry.view) feed.writer(id, writer, readOnly)
      },
      onReleased: () => this.#release(id, entry),
      onLost: () => this.#forget(id, entry),
    })
    const entry: Entry = { opening, view: undefined, users: 0 }
    this.#entries.set(id, entry)
    opening.then(
      (view) => (entry.view = view),
      () => this.#forget(id, entry),
    )
    return entry
  }

  #release(id: string, entry: Entry): void {
    if (--entry.users > 0) return
    this.#forget(id, entry)
    this.#close(entry)
  }

  #forget(id: string, entry: Entry): void {
    if (this.#entries.get(id) === entry) this.#entries.delete(id)
  }

  #close(entry: Entry): void {
    entry.opening
      .then((view) => view.close())
      .catch(() => {
        // What failed to open or to close is read by nobody any more; who asked for it has the error.
      })
  }
}
