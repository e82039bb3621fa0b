import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'
import { EXTRAS, persistentBash } from '../terminal/tool.ts'
import type { TurnAgent } from '../turn/hooks.ts'
import type { ToolContext } from '../tool/tool.ts'

const config = z.strictObject({
  description: z.string().min(1),
  timeoutMs: z.int().positive().default(300_000),
  maxOutputChars: z.int().positive().default(16_000),
  /** Parameters that the model gets beside `command`. */
  extras: z.array(z.enum(EXTRAS)).default([]),
})

/** The session had a shell that this process never saw: an answered call of the tool stands in its log (O-15). */
function hadShell({ agent, callId }: ToolContext): boolean {
  const { log } = agent as Partial<TurnAgent>
  const calls = new Set<string>()
  for (const event of log?.events ?? []) {
    if (event.type === 'tool/call' && event.data.name === 'bash') calls.add(event.data.callId)
    if (event.type !== 'tool/result') continue
    const answered = event.data.message.content.some(
      (block) => block.type === 'tool-result' && block.toolCallId !== callId && calls.has(block.toolCallId),
    )
    if (answered) return true
  }
  return false
}

export default plugin({
  name: 'tool-bash-persistent',
  inject: ['tools', 'terminals'],
  config,
  apply(ctx, settings: z.output<typeof config>) {
    const { tools, terminals } = ctx
    const tool = persistentBash({
      ...settings,
      terminals: terminals.terminals,
      terminal: (context) => terminals.options(context),
      previous: (context) => (hadShell(context) ? 'restart' : undefined),
    })
    ctx.effect(() => tools.add(scopeOf(ctx) ?? null, tool, ownerOf(ctx)))
  },
})
