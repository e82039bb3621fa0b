import { CoreError } from '../wire/errors.ts'
import { draft, type Draft } from '../wire/events.ts'
import { Screen, type Watcher } from './screen.ts'
import type { ShellView } from '../wire/safety.ts'

export interface ShellsOptions {
  /** The log of a session whose agent runs here. */
  logOf(session: string): { append(...drafts: Draft[]): unknown } | undefined
  warn?(message: string): void
}

/** Who watches which agent's shell, and what they type into it. Both stand in the session's log. */
export class Shells {
  readonly #options: ShellsOptions
  readonly #screens = new Map<string, Screen>()

  constructor(options: ShellsOptions) {
    this.#options = options
  }

  /** Of the session's terminals, made on first use. */
  screen(session: string): Screen {
    const known = this.#screens.get(session)
    if (known) return known
    const screen = new Screen(
      (change) => this.#log(session, change),
      () => this.#screens.delete(session),
    )
    this.#screens.set(session, screen)
    return screen
  }

  watch(session: string, watcher: Watcher, answering: boolean): ShellView {
    return this.screen(session).watch(watcher, answering)
  }

  unwatch(session: string, watcher: Watcher): ShellView {
    const screen = this.#screens.get(session)
    screen?.unwatch(watcher)
    return screen?.view() ?? { running: null, answering: false, hidden: false }
  }

  /**
   * Types what a person wrote into the running command's terminal. Logged first, without the text where the terminal does not
   * show it. Throws `shell/not-running` when no command would read it, `gateway/bad-request` when nobody said that they answer.
   */
  async input(session: string, text: string): Promise<{ bytes: number }> {
    const screen = this.#screens.get(session)
    const asked = await screen?.source?.asks()
    const source = screen?.source
    const log = this.#options.logOf(session)
    if (!screen || !source || !asked || !log) throw notRunning()
    if (!screen.answering)
      throw new CoreError('gateway/bad-request', 'Say first that you answer what commands ask, then type.')
    const bytes = Buffer.byteLength(text)
    const { callId, hidden } = asked
    const note = () => void log.append(draft('terminal/input', { callId, bytes, ...(!hidden && { text }) }))
    if (!source.type(text, note)) throw notRunning()
    return { bytes }
  }

  close(): void {
    for (const screen of this.#screens.values()) screen.close()
    this.#screens.clear()
  }

  #log(session: string, change: { watching: boolean; answering: boolean }): void {
    try {
      this.#options.logOf(session)?.append(draft('terminal/watch', change))
    } catch (error) {
      // A disk that refuses must not take the look at the shell away, nor end the call that began.
      this.#options.warn?.(`who watches ${session} could not be noted: ${(error as Error).message}`)
    }
  }
}

const notRunning = (): CoreError =>
  new CoreError('shell/not-running', 'No command of this session would read what is typed now. Nothing was typed.')
