import './context.ts'
import { join } from 'node:path'
import { z } from 'zod'
import { demoRoute } from '../model/adapters/demo.ts'
import { plugin } from '../preset/kernel.ts'

/** Milliseconds between two words; absent: the pace of the demo itself. */
const config = z.strictObject({ paceMs: z.number().min(0).optional() })

export default plugin({
  name: 'llm-demo',
  inject: ['llm', 'workspaces'],
  config,
  apply(ctx, { paceMs }: z.output<typeof config>) {
    const { llm, workspaces } = ctx
    const scripts = join(import.meta.dirname, '../model/demo')
    ctx.effect(() =>
      llm.add(demoRoute({ scripts, workspace: () => workspaces.demo(), ...(paceMs !== undefined && { paceMs }) })),
    )
  },
})
