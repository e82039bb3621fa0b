import type { NewShellReason } from './result.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

/** The terminals of a preset's agents: one each, made on first use. The key is the agent's scope. */
export class Terminals {
  readonly #open = new Map<object, Terminal>()

  get(key: object, make: () => TerminalOptions): Terminal {
    const found = this.#open.get(key)
    if (found) return found
    const terminal = new Terminal(make())
    this.#open.set(key, terminal)
    return terminal
  }

  /** Ends the agent's shell after its running call; the next one says why it is new. */
  async replace(key: object, reason: NewShellReason): Promise<void> {
    await this.#open.get(key)?.replace(reason)
  }

  has(key: object): boolean {
    return this.#open.has(key)
  }

  count(): number {
    return this.#open.size
  }

  async close(key: object): Promise<void> {
    const terminal = this.#open.get(key)
    this.#open.delete(key)
    await terminal?.close()
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((key) => this.close(key)))
  }
}
