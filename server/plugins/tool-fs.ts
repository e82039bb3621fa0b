import './context.ts'
import { editTool } from '../files/edit.ts'
import { readTool } from '../files/read.ts'
import { writeTool } from '../files/write.ts'
import { plugin } from '../preset/kernel.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'

export default plugin({
  name: 'tool-fs',
  inject: ['tools', 'fs'],
  apply(ctx) {
    const { fs, tools } = ctx
    const [scope, owner] = [scopeOf(ctx) ?? null, ownerOf(ctx)]
    for (const tool of [readTool(fs), writeTool(fs), editTool(fs)]) ctx.effect(() => tools.add(scope, tool, owner))
  },
})
