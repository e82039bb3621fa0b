import { once } from 'node:events'
import type { Bench } from './sweep.ts'
import type { Arm } from './preload.ts'

export interface SwitchOutcome {
  /** What was to happen when the process was killed; undefined when it was through before. */
  killed: string | undefined
  acknowledged: boolean
  /** The preset after the restart; undefined when the session was never on disk. */
  preset: string | undefined
  /** Tools of its first request after the restart. */
  tools: string[]
}

/** Kills the server at point `at` of a blank session's switch from minimal to standard, and goes on under a new one. */
export async function killedSwitch(bench: Bench, on: Arm['arm']['on'], at: number): Promise<SwitchOutcome> {
  const server = await bench.serve()
  const client = await server.connect()
  const session = await bench.create(client)
  const armed = once(server.child, 'message')
  server.child.send({ arm: { at, on } } satisfies Arm)
  await armed
  const died = once(server.child, 'exit').then(() => false)
  const done = client.command('preset.select', { session, preset: 'standard' }).then(() => true)
  // When the socket closes under the command, that is the kill.
  const acknowledged = await Promise.race([died, done.catch(() => died)])
  await server.kill()
  const killed = /killed at .*/.exec(server.output())?.[0]

  const next = await bench.serve()
  const back = await next.connect()
  const known = await back.attach(session).catch(() => undefined)
  if (known?.t !== 'snapshot') {
    await next.stop()
    return { killed, acknowledged, preset: undefined, tools: [] }
  }
  const preset = known.state.preset.current ?? undefined
  await bench.complete(back, session)
  await back.close()
  await next.stop()
  const header = bench.check(session).find((event) => event.type === 'request/header')
  const { composition, header: sent } = header!.data
  if (composition?.preset !== preset) throw new Error(`${preset} is logged and ${composition?.preset} was bound`)
  return { killed, acknowledged, preset, tools: sent.tools?.map(({ name }) => name) ?? [] }
}
