import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { Scopes } from '../scope/scope.ts'

export default plugin({
  name: 'scopes',
  apply(ctx) {
    ctx.provide('scopes', new Scopes())
  },
})
