import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { Terminals } from '../terminal/terminals.ts'
import type { TerminalOptions } from '../terminal/terminal.ts'
import type { ToolContext } from '../tool/tool.ts'

/** How a preset's terminals are opened: what a backend row decides beside the directory. */
export type TerminalBackend = (context: ToolContext) => Partial<TerminalOptions>

/** The terminals of one preset and the backend that opens them, as `ctx.terminals` inside the preset's own realm. */
export class TerminalService {
  readonly terminals = new Terminals()
  #backend: TerminalBackend | undefined

  use(backend: TerminalBackend): () => void {
    if (this.#backend) throw new Error('a terminal backend is already registered in this preset')
    this.#backend = backend
    return () => (this.#backend = undefined)
  }

  options(context: ToolContext): Partial<TerminalOptions> {
    if (!this.#backend) throw new Error('this preset has no terminal backend; add a row terminal-local')
    return this.#backend(context)
  }
}

export default plugin({
  name: 'terminals',
  apply(ctx) {
    const service = new TerminalService()
    ctx.effect(function* () {
      yield () => service.terminals.closeAll()
      yield ctx.provide('terminals', service)
    })
  },
})
