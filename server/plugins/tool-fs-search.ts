import './context.ts'
import { globTool } from '../files/glob.ts'
import { grepTool } from '../files/grep.ts'
import { readerConfinement } from './sandbox.ts'
import { plugin } from '../preset/kernel.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'
import type { ToolContext } from '../tool/tool.ts'

export default plugin({
  name: 'tool-fs-search',
  inject: ['tools', 'fs'],
  apply(ctx) {
    const { fs, tools } = ctx
    const [scope, owner] = [scopeOf(ctx) ?? null, ownerOf(ctx)]
    const world = { confine: (context: ToolContext) => readerConfinement(ctx, context) }
    for (const tool of [globTool(fs, world), grepTool(fs, world)]) ctx.effect(() => tools.add(scope, tool, owner))
  },
})
