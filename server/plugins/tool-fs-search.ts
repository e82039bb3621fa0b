import './context.ts'
import { globTool } from '../files/glob.ts'
import { grepTool } from '../files/grep.ts'
import { plugin } from '../preset/kernel.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'

export default plugin({
  name: 'tool-fs-search',
  inject: ['tools', 'fs'],
  apply(ctx) {
    const { fs, tools } = ctx
    const [scope, owner] = [scopeOf(ctx) ?? null, ownerOf(ctx)]
    for (const tool of [globTool(fs), grepTool(fs)]) ctx.effect(() => tools.add(scope, tool, owner))
  },
})
