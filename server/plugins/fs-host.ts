import './context.ts'
import { hostFs } from '../files/fs-host.ts'
import { plugin } from '../preset/kernel.ts'

/** The files of the host with the observation policy: what a preset without a provider of its own works on. */
export default plugin({
  name: 'fs-host',
  inject: ['hooks'],
  apply(ctx) {
    const { fs, observation } = hostFs()
    ctx.effect(() => ctx.hooks.on(null, 'agent/disposed', ({ agent }) => observation.forget(agent.id)))
    ctx.provide('fs', fs)
  },
})
