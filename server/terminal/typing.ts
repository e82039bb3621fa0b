import type { Call } from './call.ts'
import type { Pty } from './pty.ts'
import type { Screen } from './screen.ts'

/**
 * What a person may type into one shell's terminal, and whether it shows that. The terminal does not show typed text by
 * itself; it does for the calls that a person answers, so that a command that turns it off means a secret.
 */
export class Typing {
  readonly #pty: Pick<Pty, 'echo' | 'setEcho'>
  readonly #screen: Screen | undefined
  #call: Call | undefined
  #echo = false
  #waiting = false
  #hidden = false

  constructor(pty: Pick<Pty, 'echo' | 'setEcho'>, screen: Screen | undefined) {
    this.#pty = pty
    this.#screen = screen
  }

  get hidden(): boolean {
    return this.#hidden
  }

  /** Before the call's line is typed. */
  async begin(call: Call): Promise<void> {
    this.#call = call
    if (this.#screen?.answering) await this.#show(true)
  }

  async end(): Promise<void> {
    this.#call = undefined
    this.#waiting = false
    this.#hidden = false
    if (this.#echo) await this.#show(false)
  }

  /** Now and then while a call runs. */
  look(): void {
    const waits = this.#screen?.answering === true && this.#call?.waits() === true
    if (waits && !this.#waiting) void this.#lookAtEcho()
    if (!waits) this.#hidden = false
    this.#waiting = waits
    this.#screen?.changed()
  }

  /** A command that waits already may have turned it off for a secret: that is left as it is. */
  answered(on: boolean): void {
    if (on && this.#call && !this.#echo && !this.#call.waits()) void this.#show(true)
  }

  async asks(): Promise<{ hidden: boolean } | undefined> {
    if (!this.#call?.takesInput()) return undefined
    const hidden = (await this.#pty.echo()) !== true
    return this.#call?.takesInput() ? { hidden } : undefined
  }

  /** `before` is done once it is certain that it will be typed. */
  type(text: string, before: () => void): boolean {
    const call = this.#call
    if (!call?.takesInput()) return false
    before()
    this.#waiting = false
    return call.type(text)
  }

  async #lookAtEcho(): Promise<void> {
    const shows = await this.#pty.echo()
    if (!this.#waiting) return
    this.#hidden = shows !== true
    this.#screen?.changed()
  }

  async #show(on: boolean): Promise<void> {
    this.#echo = on
    await this.#pty.setEcho(on)
  }
}
