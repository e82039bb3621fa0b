import './context.ts'
import { z } from 'zod'
import { AgentRegistry } from '../agent/registry.ts'
import { plugin } from '../preset/kernel.ts'
import { bridgeHooks } from './hook-bridge.ts'

const config = z.strictObject({
  maxParallelToolCalls: z.int().positive().default(10),
  /** Stream timing that is kept with each answer. */
  stream: z.enum(['full', 'frames', 'none']).default('full'),
})

export default plugin({
  name: 'agent-loop',
  inject: ['scopes', 'hooks', 'systemPrompt', 'tools', 'llm'],
  config,
  apply(ctx, settings: z.output<typeof config>) {
    const { hooks, systemPrompt: prompt, tools, llm, logger } = ctx
    ctx.effect(() => bridgeHooks(ctx))
    const world = {
      hooks,
      prompt,
      tools,
      prepare: llm.prepare.bind(llm),
      ...settings,
    }
    const report = (error: unknown, agent: string): void => {
      logger.warn('closing the agent %s was not clean', agent)
      logger.warn(error)
    }
    ctx.provide('agents', new AgentRegistry(world, report))
  },
})
