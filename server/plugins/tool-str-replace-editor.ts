import './context.ts'
import { z } from 'zod'
import { strReplaceEditor } from '../files/editor/editor.ts'
import { plugin } from '../preset/kernel.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'

const config = z.strictObject({
  maxOutputChars: z.int().positive().default(16_000),
  description: z.string().min(1).optional(),
  undo: z.boolean().default(false),
  snippet: z.boolean().default(false),
})

export default plugin({
  name: 'tool-str-replace-editor',
  inject: ['tools', 'fs'],
  config,
  apply(ctx, { description, ...settings }: z.output<typeof config>) {
    const tool = strReplaceEditor(ctx.fs, { ...settings, ...(description !== undefined && { description }) })
    ctx.effect(() => ctx.tools.add(scopeOf(ctx) ?? null, tool, ownerOf(ctx)))
  },
})
