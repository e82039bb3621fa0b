import './context.ts'
import { z } from 'zod'
import { live, plugin } from '../preset/kernel.ts'
import { SHIPPED_PROVIDERS } from '../model/adapters/providers.ts'
import { providerRoute } from '../model/adapters/provider-route.ts'
import { providerConfig, routeDefaults } from '../model/adapters/route-options.ts'
import { findLocalServers } from '../model/local-servers.ts'
import { probeRoute } from '../model/probe.ts'
import { Providers } from '../settings/providers.ts'
import type { RouteFile } from '../settings/providers-options.ts'
import { CoreError } from '../wire/errors.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Volatile } from '@deepseek-ai/cosmokit'
import type { RouteEntries } from '../settings/route-entry.ts'

/**
 * `live: false` offers no provider that reaches a network: replays and tests bring their own routes. Each of `routes` is judged
 * by itself: one that is wrong must not take the others with it.
 */
const config = z.strictObject({
  live: z.boolean().default(true),
  routes: z.record(z.string(), z.unknown()).optional(),
})

interface Settings {
  live: boolean
  routes: Volatile<RouteEntries | undefined>
}

/** Model providers, shipped and a person's own, as routes; keys and the default go through here too. */
export default plugin({
  name: 'providers',
  inject: ['llm', 'credentials', 'stateStore', 'agentDefaultModel', 'hostRows'],
  config: live(config, 'routes'),
  apply(ctx, settings: Settings) {
    const { llm, credentials, stateStore, agentDefaultModel, logger } = ctx
    // Attachments are not taken yet, so no request can hold a stored image.
    const deps = { credentials, loadBlob: async () => undefined }
    const warn = (message: string): void => logger.warn(message)
    const providers = new Providers({
      routes: llm,
      credentials,
      state: stateStore,
      file: routeFile(ctx, settings),
      shipped: settings.live ? SHIPPED_PROVIDERS : [],
      own: settings.live,
      toConfig: providerConfig,
      defaults: routeDefaults,
      makeRoute: (route) => providerRoute(route, deps),
      probe: (route, options) => probeRoute(route, deps, options),
      findLocal: () => findLocalServers(),
      defaultModel: agentDefaultModel,
      warn,
    })
    void providers.start()
    void moveOld(ctx, providers).catch((error: Error) =>
      warn(`providers of an earlier version stay in state.db: ${error.message}`),
    )
    ctx.on('loader/volatile-update', () => providers.reread())
    ctx.effect(() => llm.observe(() => providers.announce()))
    ctx.effect(() => () => providers.close())
    ctx.provide('providers', providers)
  },
})

/** The editor takes edits of a row that runs, and of a host that reads its rows no more at this moment. */
async function moveOld(ctx: Context, providers: Providers): Promise<void> {
  await ctx.fiber.await()
  await providers.moveOld()
}

function routeFile(ctx: Context, settings: Settings): RouteFile {
  return {
    path: ctx.hostRows.userPatch,
    read: () => settings.routes.get() ?? {},
    async edit(derive) {
      const row = ctx.fiber.entry?.options.id
      const editor = ctx.get('configEditor')
      if (row === undefined || !editor)
        throw new CoreError('settings/not-saved', 'This host keeps no settings: it runs without the row config-editor.')
      await editor.edit(row, ({ routes, ...others }, evaluated) => {
        const next = derive({
          raw: (routes ?? {}) as RouteEntries,
          evaluated: (evaluated['routes'] ?? {}) as RouteEntries,
        })
        return Object.keys(next).length > 0 ? { ...others, routes: next } : others
      })
    },
  }
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    providers: Providers
  }
}
