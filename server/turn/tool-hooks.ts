import type { ToolHooks } from '../tool/execute.ts'
import type { Hooks, TurnAgent } from './hooks.ts'

/** The tool pipeline's hooks, bound to one agent's scope. */
export const toolHooks = (hooks: Hooks, agent: TurnAgent): ToolHooks => ({
  preExecute: (event, inner) => hooks.waterfall('tools/pre-execute', agent, event, inner),
  execute: (event, inner) => hooks.waterfall('tools/execute', agent, event, inner),
  postExecute: (event, inner) => hooks.waterfall('tools/post-execute', agent, event, inner),
  result: (event) => hooks.emit('tools/result', agent, { agent, ...event }),
  output: (event) => hooks.emit('tool/output', agent, { agent, ...event }),
})
