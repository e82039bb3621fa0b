import './context.ts'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { parseCassette } from '../model/replay/cassette.ts'
import { Player } from '../model/replay/player.ts'
import { plugin } from '../preset/kernel.ts'

const config = z.strictObject({
  /** Absolute path of the cassette. */
  cassette: z.string(),
  /** Live values of the cassette's tokens, `cwd` above all. */
  tokens: z.record(z.string(), z.string()).default({}),
  mode: z.enum(['replay', 'refresh']).default('replay'),
  speed: z.number().min(0).default(0),
})

/** Plays one cassette under the provider ids it was recorded with; refuses to stand beside an adapter that could answer instead. */
export default plugin({
  name: 'llm-replay',
  inject: ['llm'],
  config,
  apply(ctx, settings) {
    const { llm } = ctx
    const player = new Player(parseCassette(readFileSync(settings.cassette, 'utf8'), settings.cassette), {
      tokens: () => settings.tokens,
      mode: settings.mode,
      speed: settings.speed,
    })
    const live = llm.list().filter(({ wire }) => wire !== 'demo' && wire !== 'replay')
    if (live.length > 0)
      throw new Error(
        `replay cannot run beside the live providers ${live.map(({ id }) => id).join(', ')}; disable the row "providers"`,
      )
    for (const route of player.routes()) ctx.effect(() => llm.add(route))
    ctx.provide('replay', player)
  },
})

declare module '@deepseek-ai/cordis' {
  interface Context {
    replay: Player
  }
}
