import './context.ts'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { parseCassette, type Cassette } from '../model/replay/cassette.ts'
import { Player } from '../model/replay/player.ts'
import { Recorder } from '../model/replay/recorder.ts'
import { plugin } from '../preset/kernel.ts'
import { VERSION } from '../version.ts'

const config = z.strictObject({
  /** Absolute path of the cassette; it need not exist for `record`. */
  cassette: z.string(),
  /** Live values of the cassette's tokens, `cwd` above all. */
  tokens: z.record(z.string(), z.string()).default({}),
  /** `record` asks the provider for every call, `missing` only for those that the cassette lacks. */
  mode: z.enum(['record', 'missing']).default('record'),
})

/** Puts every live provider behind a recorder (RE-08). What was recorded is written by whoever asked for it. */
export default plugin({
  name: 'llm-record',
  inject: ['llm'],
  config,
  apply(ctx, { cassette, tokens, mode }) {
    const { llm } = ctx
    const known = existsSync(cassette) ? parseCassette(readFileSync(cassette, 'utf8'), cassette) : undefined
    const head = {
      k: 'cassette' as const,
      v: 1 as const,
      scenario: basename(cassette, '.jsonl'),
      norm: 1 as const,
      ...known?.head,
      origin: 'recorded' as const,
      recorder: `core-web@${VERSION}`,
      tokens: Object.keys(tokens),
    }
    const recorder = new Recorder({ head, tokens: () => tokens })
    const player = known && mode === 'missing' ? new Player(known, { tokens: () => tokens }) : undefined
    ctx.effect(() =>
      llm.decorate((route) =>
        player ? player.over(route, (prepared, request) => recorder.record(prepared, request)) : recorder.wrap(route),
      ),
    )
    const recording: Recording = {
      known,
      cassette: () => ({ head, calls: [...(player ? player.cassette.calls : []), ...recorder.cassette().calls] }),
    }
    ctx.provide('recording', recording)
  },
})

export interface Recording {
  /** The cassette as it was before. */
  known: Cassette | undefined
  cassette(): Cassette
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    recording: Recording
  }
}
