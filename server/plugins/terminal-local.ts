import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { confinement } from './sandbox.ts'

const config = z.strictObject({
  timeoutMs: z.int().positive().default(300_000),
  /** What commands find as their input: nothing, or the terminal. */
  stdin: z.enum(['null', 'tty']).default('null'),
})

export default plugin({
  name: 'terminal-local',
  inject: ['terminals'],
  config,
  apply(ctx, { timeoutMs, stdin }: z.output<typeof config>) {
    if (process.platform === 'win32') throw new Error('needs a POSIX terminal; not supported on Windows')
    const { terminals, logger } = ctx
    ctx.effect(() =>
      terminals.use((context) => ({
        timeoutMs,
        stdin,
        warn: (message) => logger.warn(message),
        screen: ctx.get('shells')?.screen(context.agent.id),
        ...confinement(ctx, context),
      })),
    )
  },
})
