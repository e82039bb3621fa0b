import { expect, test } from 'vitest'
import { presetHost, declare } from '../boot-testing.ts'
import { plugin } from '../preset/kernel.ts'
import { bridgeHooks } from './hook-bridge.ts'

test('P-02 rows hear the loop of agents in their own scope and below, unscoped rows hear all, others nothing', async () => {
  const heard: string[] = []
  const listener = (name: string) =>
    plugin({
      name,
      apply(ctx) {
        ctx.on('agent/status', ({ agent }) => void heard.push(`${name} ${agent.id}`))
        ctx.on('agent/request', async (_event, next) => ({ ...(await next()), [name]: true }))
      },
    })
  const catalog = {
    left: { plane: 'preset' as const, load: async () => listener('left') },
    right: { plane: 'preset' as const, load: async () => listener('right') },
    everywhere: { plane: 'host' as const, load: async () => listener('everywhere') },
  }
  const rows = declare('a', '- {id: left, name: left}') + declare('b', '- {id: right, name: right}')
  const { host } = await presetHost(`${rows}\n- {id: everywhere, name: everywhere}`, { catalog })
  const hooks = host.service('hooks')!
  await host.ctx.plugin({
    name: 'bridge',
    inject: ['hooks', 'scopes'],
    apply: (ctx: typeof host.ctx) => bridgeHooks(ctx),
  })
  const agent = { id: 'one', scope: {} }
  await host.service('agentPresets')!.mount(agent.scope, 'a')
  hooks.emit('agent/status', agent.scope, { agent: agent as never, status: 'idle' })
  expect(heard.toSorted()).toEqual(['everywhere one', 'left one'])
  const event = { agent } as never
  const config = await hooks.waterfall('agent/request', agent.scope, event, () => ({ provider: 'p', model: 'm' }))
  expect(config).toEqual({ provider: 'p', model: 'm', everywhere: true, left: true })
})

test('a failing listener of an announcement reaches nobody else', async () => {
  const { host } = await presetHost(declare('a', '- {id: t, name: probe-tool, config: {name: t}}'))
  const hooks = host.service('hooks')!
  await host.ctx.plugin({
    name: 'bridge',
    inject: ['hooks', 'scopes'],
    apply: (ctx: typeof host.ctx) => bridgeHooks(ctx),
  })
  const heard: string[] = []
  host.ctx.on('agent/status', () => {
    throw new Error('a listener')
  })
  host.ctx.on('agent/status', ({ status }) => void heard.push(status))
  hooks.emit('agent/status', {}, { agent: { id: 'x', scope: {} } as never, status: 'running' })
  expect(heard).toEqual(['running'])
})
