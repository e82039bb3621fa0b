import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from '../wire/json.ts'
import type { Tool, ToolContext, ToolOutcome } from '../tool/tool.ts'

/** A fresh directory, real path, removed by the returned dispose. */
export function workspace(): { root: string; [Symbol.dispose](): void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'files-')))
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

export interface Called {
  text: string
  /** Absent on success. */
  code?: string
  meta?: Json
}

export const contextOf = (options: { cwd?: string; session?: string; signal?: AbortSignal } = {}): ToolContext => ({
  agent: {
    id: options.session ?? 'session-1',
    scope: {},
    cwd: options.cwd ?? '/',
    onClose: () => undefined,
  },
  callId: 'call-1',
  turn: 1,
  step: 1,
  cwd: options.cwd ?? '/',
  signal: options.signal ?? new AbortController().signal,
  output: () => undefined,
  log: () => undefined,
})

export function called(outcome: ToolOutcome): Called {
  const text = outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return {
    text,
    ...(outcome.isError && { code: outcome.error?.code ?? 'none' }),
    ...(outcome.meta !== undefined && { meta: outcome.meta }),
  }
}

/** The tool as the pipeline calls it, with the outcome flattened for assertions. */
export const caller =
  (tool: Tool, options: Parameters<typeof contextOf>[0] = {}) =>
  async (args: Json, signal?: AbortSignal): Promise<Called> =>
    called(await tool.run(args, contextOf({ ...options, ...(signal && { signal }) })))
