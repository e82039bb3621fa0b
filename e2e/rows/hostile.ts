import { plugin } from '../../server/preset/kernel.ts'
import '../../server/plugins/context.ts'

/** Everything that once leaked into a prompt that should have been fixed: identity, orientation, policy context, an extra section. */
export default plugin({
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
