import './context.ts'
import { z } from 'zod'
import { agentEntry } from '../agent/configured.ts'
import { AgentRegistry } from '../agent/registry.ts'
import { plugin } from '../preset/kernel.ts'
import { plannedStarts, runConfigured } from './configured-agents.ts'
import { bridgeHooks } from './hook-bridge.ts'

const config = z.strictObject({
  maxParallelToolCalls: z.int().positive().default(10),
  /** Stream timing that is kept with each answer. */
  stream: z.enum(['full', 'frames', 'none']).default('full'),
  /** Agents that start with the host, without a preset. */
  agents: z.array(agentEntry).default([]),
})

export default plugin({
  name: 'agent-loop',
  inject: ['scopes', 'hooks', 'systemPrompt', 'tools', 'llm'],
  config,
  apply(ctx, { agents: entries, ...settings }: z.output<typeof config>) {
    // First of all: a config that contradicts itself leaves nothing behind (N-13).
    const starts = plannedStarts(ctx, entries)
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
    const agents = new AgentRegistry(world, report)
    ctx.provide('agents', agents)
    runConfigured(ctx, agents, starts)
  },
})
