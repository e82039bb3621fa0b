import './context.ts'
import { parseDeclaration } from '../preset/declaration.ts'
import { plugin } from '../preset/kernel.ts'
import type { HostLoader } from '../preset/loader.ts'

/** Declares one preset. It mounts nothing itself: the registry owns what agents use, also after this row is gone (B-03). */
export default plugin({
  name: 'agent-preset',
  inject: ['agentPresets', 'loader'],
  carriesRows: true,
  async apply(ctx, raw: unknown) {
    const { agentPresets: presets, logger } = ctx
    const { entry } = ctx.fiber
    if (!entry) throw new Error('a preset is declared by a row, not by a plugin call')
    const row = { entry, baseUrl: entry.parent.tree.ctx.baseUrl }
    const declaration = parseDeclaration(raw)
    let id = declaration.id
    let withdraw = await presets.register(declaration, row)
    let queue = Promise.resolve()

    const redeclare = async (config: unknown): Promise<void> => {
      const next = parseDeclaration(config)
      if (next.id !== id) {
        const replaced = withdraw
        withdraw = await presets.register(next, row)
        await replaced()
      } else {
        withdraw = await presets.replace(next, row)
      }
      id = next.id
    }
    // Not calling on keeps this row active: a restart would withdraw the preset before the new one is there.
    ctx.on('internal/update', (config: unknown) => {
      queue = queue
        .then(() => redeclare(config))
        .catch((error: unknown) => {
          logger.warn('the preset %s keeps its old declaration', id)
          logger.warn(error)
        })
      void (ctx.loader as HostLoader).track(queue)
    })
    return async () => {
      await queue
      await withdraw()
    }
  },
})
