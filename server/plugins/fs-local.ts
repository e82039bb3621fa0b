import './context.ts'
import { localFs } from '../files/fs-local.ts'
import { plugin } from '../preset/kernel.ts'

/** The bare local files, for a realm of their own: nothing is confined, and nothing claims to be (O-08). */
export default plugin({
  name: 'fs-local',
  apply(ctx) {
    ctx.provide('fs', localFs())
  },
})
