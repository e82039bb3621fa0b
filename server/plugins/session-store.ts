import './context.ts'
import { z } from 'zod'
import { SessionStore } from '../log/store.ts'
import { plugin } from '../preset/kernel.ts'
import { VERSION } from '../version.ts'

const config = z.strictObject({ allowNetworkDisk: z.boolean().default(false) })

export default plugin({
  name: 'session-store',
  inject: ['dataFolder'],
  config,
  async apply(ctx, { allowNetworkDisk }: z.output<typeof config>) {
    const { dataFolder, logger } = ctx
    const store = new SessionStore(dataFolder.path, {
      allowNetworkDisk,
      writer: `core-web@${VERSION}`,
      onObserverError: (error) => logger.warn(error),
    })
    await store.prepare()
    ctx.effect(function* () {
      yield () => store.close()
      yield ctx.provide('sessionStore', store)
    })
  },
})
