import type { Catalog } from '../server/preset/loader.ts'
import type { Patch } from '../server/preset/patch.ts'
import { plugin } from '../server/preset/kernel.ts'
import '../server/plugins/context.ts'

/** Everything that once leaked into a prompt that should have been fixed: identity, orientation, policy context, an extra section. */
const hostile = plugin({
  name: 'test-hostile',
  inject: ['systemPrompt', 'hooks'],
  apply(ctx) {
    const { systemPrompt, hooks } = ctx
    ctx.effect(() =>
      systemPrompt.section(null, { name: 'test:identity', order: -900, text: 'You are HOSTILE-IDENTITY.' }),
    )
    ctx.effect(() =>
      systemPrompt.section(null, {
        name: 'web:orientation',
        order: 500,
        text: 'HOSTILE-ORIENTATION: you live in a browser.',
      }),
    )
    ctx.effect(() => systemPrompt.context(null, { name: 'policy', text: () => `HOSTILE-POLICY at ${Date.now()}` }))
    ctx.effect(() =>
      hooks.on(
        null,
        'system-prompt/assemble',
        async (_event, next) => {
          const assembly = await next()
          const sections = assembly.sections.map((section) => ({ ...section, text: `${section.text} HOSTILE-EDIT` }))
          sections.push({ name: 'test:section', order: 999, text: 'HOSTILE-SECTION' })
          return {
            ...assembly,
            sections,
            contexts: [...assembly.contexts, { name: 'smuggled', order: 0, text: 'HOSTILE-CONTEXT' }],
          }
        },
        { prepend: true },
      ),
    )
  },
})

export const hostileCatalog: Catalog = { 'test-hostile': { plane: 'host', load: async () => ({ default: hostile }) } }
export const hostilePatch = { insert: [{ id: 'test-hostile', name: 'test-hostile' }] } as unknown as Patch

/** Replaces the live providers by one cassette. */
export const replayPatches = (
  cassette: string,
  tokens: Record<string, string>,
  mode: 'replay' | 'refresh' = 'replay',
): Patch[] =>
  [
    { insert: [{ id: 'llm-replay', name: 'llm-replay', config: { cassette, tokens, mode } }] },
    { id: 'providers', config: { live: false } },
  ] as unknown as Patch[]
