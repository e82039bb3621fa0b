import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { PresetLibrary } from '../preset/library.ts'
import { Documents } from '../preset/library-documents.ts'
import { PRESET_ROW } from '../preset/rows.ts'
import type { HostLoader } from '../preset/loader.ts'

/** The documents behind the presets, for reading, checking and writing. */
export default plugin({
  name: 'preset-library',
  inject: ['loader', 'hostRows', 'agentPresets'],
  apply(ctx) {
    const { hostRows, agentPresets, logger } = ctx
    const loader = ctx.loader as HostLoader
    const library = new PresetLibrary({
      documents: new Documents(loader, hostRows.userPresets),
      registry: agentPresets.registry,
      catalog: hostRows.catalog,
      load: loader.load,
      reload: () => hostRows.reload(),
      warn: (message) => logger.warn(message),
    })
    ctx.effect(() => loader.onDocument(() => void library.noted()))
    ctx.on(
      'internal/status',
      (fiber) => {
        // A document may parse and its declaration be refused; no file has moved then.
        if (fiber.entry?.options.name === PRESET_ROW) void library.noted()
      },
      { global: true },
    )
    void library.noted()
    ctx.effect(function* () {
      yield () => library.close()
      yield ctx.provide('presetLibrary', library)
    })
  },
})
