import './context.ts'
import { Credentials } from '../credential/credentials.ts'
import { plugin } from '../preset/kernel.ts'

export default plugin({
  name: 'credentials',
  inject: ['dataFolder', 'webStartup'],
  apply(ctx) {
    const { dataFolder, webStartup } = ctx
    ctx.provide('credentials', new Credentials({ path: dataFolder.file('credentials.json'), env: webStartup.env }))
  },
})
