import './context.ts'
import { Routes } from '../model/routes.ts'
import { plugin } from '../preset/kernel.ts'

/** The model routes of the host; other rows add theirs. */
export default plugin({
  name: 'llm',
  apply(ctx) {
    ctx.provide('llm', new Routes())
  },
})
