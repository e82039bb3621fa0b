import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { isWithin, toReal } from '../sandbox/mounts.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { defaultRoot } from '../terminal/control.ts'
import { openPty } from '../terminal/pty.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Confine, Confined } from '../sandbox/confined.ts'
import type { ToolContext } from '../tool/tool.ts'
import type { Policy } from '../wire/safety.ts'

const Count = z.int().positive()
const config = z.strictObject({
  /** Where bubblewrap is, when it is not in the system's folders. */
  path: z.string().min(1).optional(),
  limits: z
    .strictObject({
      memoryMb: Count.optional(),
      processes: Count.optional(),
      openFiles: Count.optional(),
      fileMb: Count.optional(),
    })
    .optional(),
})

/** What confines commands on this machine, tried once at start beside everything else. */
export default plugin({
  name: 'sandbox',
  inject: ['webStartup', 'dataFolder'],
  config,
  apply(ctx, { limits, path }: z.output<typeof config>) {
    const { env } = ctx.webStartup
    const uid = process.getuid?.()
    const sandbox = new Sandbox({
      dataDir: ctx.dataFolder.path,
      env,
      openTerminal: openPty,
      scratch: defaultRoot(env),
      ...(uid !== undefined && { uid }),
      ...(path !== undefined && { path }),
      ...(limits && { limits: given(limits) }),
    })
    void sandbox.ready()
    const failed = (error: Error) => ctx.logger.warn(`temporary files of a session stay: ${error.message}`)
    ctx.inject(['sessions', 'sessionStore'], (inner) => {
      const { sessions, sessionStore } = inner
      void sandbox.sweep((session) => sessionStore.exists(session)).catch(failed)
      const rows = (_rows: unknown, removed: string[]) => {
        for (const session of removed) void sandbox.forget(session).catch(failed)
      }
      inner.effect(() => sessions.feeds.add({ rows, events: pass, delta: pass, output: pass, writer: pass }))
    })
    ctx.effect(function* () {
      yield () => sandbox.close()
      yield ctx.provide('sandbox', sandbox)
    })
  },
})

const pass = (): void => undefined

/** Each session's policy, from the row that keeps them; a host without one confines nothing. */
interface Policies {
  policyFor(agent: string): Policy | undefined
}

const policyOf = (ctx: Context, { agent }: ToolContext): Policy | undefined =>
  (ctx.get('policy') as Policies | undefined)?.policyFor(agent.id)

/** How the commands of this call's agent are confined now (shells, single commands, a person's hooks), and under which name (`TerminalOptions`). */
export function confinement(
  ctx: Context,
  context: ToolContext,
): { confine: Confine; mode(): string; real(path: string): string } {
  const policy = () => policyOf(ctx, context)
  return {
    confine: (argv, place) => {
      const current = policy()
      if (!current || current.sandbox === 'full') return { kind: 'bare' }
      const sandbox = ctx.get('sandbox')
      return sandbox ? sandbox.argvFor(current, argv, place) : MISSING
    },
    real: (path) => toReal(policy()?.mounts ?? [], path),
    mode: () => {
      const { sandbox = 'full', network, roots, mounts } = policy() ?? {}
      return sandbox === 'full' ? sandbox : JSON.stringify([sandbox, network, roots, mounts])
    },
  }
}

/**
 * The same for a program of this installation that only reads, whose paths the gate has judged: what nothing can confine runs
 * bare, and so does a program that lies where the sandbox shows something else.
 */
export function readerConfinement(ctx: Context, context: ToolContext): Confine {
  const { confine } = confinement(ctx, context)
  return async (argv, place) => {
    const [program = ''] = argv
    const { mounts = [], masks = [] } = policyOf(ctx, context) ?? {}
    const isSeen = toReal(mounts, program) === program && !masks.some((mask) => isWithin(program, mask))
    if (!isSeen) return { kind: 'bare' }
    const confined = await confine(argv, place)
    return confined.kind === 'refused' ? { kind: 'bare' } : confined
  }
}

const MISSING: Confined = {
  kind: 'refused',
  code: 'SANDBOX_UNAVAILABLE',
  reason: 'This session’s mode confines commands, and this host has no row sandbox. Add it to the host’s rows.',
}

const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }

declare module '@deepseek-ai/cordis' {
  interface Context {
    sandbox: Sandbox
  }
}
