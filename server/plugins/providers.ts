import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { SHIPPED_PROVIDERS } from '../model/adapters/providers.ts'
import { providerRoute } from '../model/adapters/provider-route.ts'
import { Providers } from '../settings/providers.ts'

/** `live: false` offers no provider that reaches a network: replays and tests bring their own routes. */
const config = z.strictObject({ live: z.boolean().default(true) })

/** Model providers, shipped and a person's own, as routes; keys and the default go through here too. */
export default plugin({
  name: 'providers',
  inject: ['llm', 'credentials', 'stateStore', 'agentDefaultModel'],
  config,
  apply(ctx, { live }: z.output<typeof config>) {
    const { llm, credentials, stateStore, agentDefaultModel, logger } = ctx
    const providers = new Providers({
      routes: llm,
      credentials,
      state: stateStore,
      shipped: live ? SHIPPED_PROVIDERS : [],
      own: live,
      // Attachments are not taken yet, so no request can hold a stored image.
      makeRoute: (config) => providerRoute(config, { credentials, loadBlob: async () => undefined }),
      defaultModel: agentDefaultModel,
      warn: (message) => logger.warn(message),
    })
    void providers.start()
    ctx.effect(() => llm.observe(() => providers.routesChanged()))
    ctx.provide('providers', providers)
  },
})

declare module '@deepseek-ai/cordis' {
  interface Context {
    providers: Providers
  }
}
