import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { SHIPPED_PROVIDERS } from '../model/adapters/providers.ts'
import { providerRoute } from '../model/adapters/provider-route.ts'
import { Providers } from '../settings/providers.ts'

/** Model providers, shipped and a person's own, as routes; keys and the default go through here too. */
export default plugin({
  name: 'providers',
  inject: ['llm', 'credentials', 'stateStore', 'agentDefaultModel'],
  async apply(ctx) {
    const { llm, credentials, stateStore, agentDefaultModel } = ctx
    const providers = new Providers({
      routes: llm,
      credentials,
      state: stateStore,
      shipped: SHIPPED_PROVIDERS,
      // Attachments are not taken yet, so no request can hold a stored image.
      makeRoute: (config) => providerRoute(config, { credentials, loadBlob: async () => undefined }),
      defaultModel: agentDefaultModel,
    })
    providers.start()
    ctx.effect(() => llm.observe(() => void providers.refresh()))
    ctx.provide('providers', providers)
  },
})

declare module '@deepseek-ai/cordis' {
  interface Context {
    providers: Providers
  }
}
