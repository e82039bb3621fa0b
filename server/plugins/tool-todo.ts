import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'
import { todoTool } from '../tool/todo.ts'

export default plugin({
  name: 'tool-todo',
  inject: ['tools'],
  apply(ctx) {
    ctx.effect(() => ctx.tools.add(scopeOf(ctx) ?? null, todoTool(), ownerOf(ctx)))
  },
})
