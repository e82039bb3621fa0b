import { CoreError } from '../wire/errors.ts'
import type { CommandName } from '../wire/commands.ts'
import type { ServerFrame } from '../wire/protocol.ts'
import type { ShellView } from '../wire/safety.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Handler } from './commands.ts'
import type { Viewer } from './hub.ts'

type Names = Extract<CommandName, `shell.${string}`>

/** A tab that something may end with. */
export interface LiveTab extends Viewer {
  readonly closed: boolean
  /** Called once when the tab is gone. */
  onClosed(effect: () => void): void
}

interface Watcher {
  send(view: ShellView, text?: string): void
}

/** The shells of agents, as people look at them. Refusals are CoreErrors `shell/*`. */
export interface ShellDesk {
  watch(session: string, watcher: Watcher, answering: boolean): ShellView
  unwatch(session: string, watcher: Watcher): ShellView
  input(session: string, text: string): Promise<{ bytes: number }>
}

/** Characters that a tab which reads too slowly is owed; of more it gets the end. */
const OWED = 64 * 1024

/** Watching belongs to one tab and ends with it. */
export function shellHandlers(sessions: Pick<Sessions, 'view'>, shells: ShellDesk): { [N in Names]: Handler<N> } {
  const watchers = new WeakMap<LiveTab, Map<string, Watcher>>()
  const of = (tab: LiveTab): Map<string, Watcher> => {
    const known = watchers.get(tab)
    if (known) return known
    const made = new Map<string, Watcher>()
    watchers.set(tab, made)
    tab.onClosed(() => {
      for (const [session, watcher] of made) shells.unwatch(session, watcher)
    })
    return made
  }
  return {
    'shell.watch': async ({ session, watching, answering }, _id, tab) => {
      if (!tab) throw new CoreError('gateway/bad-request', 'A shell is watched over the socket of a tab.')
      const mine = of(tab)
      const known = mine.get(session)
      if (!watching) {
        mine.delete(session)
        return known ? shells.unwatch(session, known) : { running: null, answering: false, hidden: false }
      }
      if (!known) (await sessions.view(session)).release()
      // The tab has closed while its session was looked up.
      if (tab.closed) throw new CoreError('gateway/cancelled', 'The tab was closed.')
      const watcher = mine.get(session) ?? watcherOf(tab, session)
      mine.set(session, watcher)
      return shells.watch(session, watcher, answering)
    },
    'shell.input': ({ session, text }) => shells.input(session, text),
  }
}

/** A tab that does not keep up is owed the latest view and the end of the text, in one frame. */
function watcherOf(tab: Viewer, session: string): Watcher {
  let owed: { view: ShellView; text: string; cut: boolean } | undefined
  const tell = (view: ShellView, text: string) => {
    const frame: ServerFrame = { t: 'shell', session, view, ...(text !== '' && { text }) }
    tab.send(JSON.stringify(frame))
  }
  const pay = () => {
    const { view, text, cut } = owed!
    owed = undefined
    tell(view, cut ? `\n[some text was not shown]\n${text}` : text)
  }
  return {
    send(view, text = '') {
      if (!owed && !tab.congested) return tell(view, text)
      if (!owed) tab.onDrained(pay)
      const all = (owed?.text ?? '') + text
      owed = { view, text: all.slice(-OWED), cut: (owed?.cut ?? false) || all.length > OWED }
    },
  }
}
