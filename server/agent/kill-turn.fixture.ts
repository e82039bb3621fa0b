import { SessionStore } from '../log/store.ts'
import { header, ScriptedModel, tool, world } from '../turn/turn.fixture.ts'
import { Agent } from './agent.ts'

/** Where in its second turn this process kills itself; every point lies after the prompt's acknowledgement. */
export const POINTS = ['assemble', 'pre-step', 'request', 'prepare', 'batch', 'stream', 'tool'] as const
export type Point = (typeof POINTS)[number]

/** Runs one whole turn, then a second one up to the point. `node kill-turn.fixture.ts <data folder> <point>` */
async function main(root: string, point: Point): Promise<void> {
  const store = new SessionStore(root)
  await store.prepare()
  const log = store.create(header({ cwd: root }))
  const model = new ScriptedModel({ text: 'first answer' })
  const host = world(model, { id: () => crypto.randomUUID() })
  const agent = new Agent(host, { id: 's1', log, options: { provider: 'p', model: 'm', cwd: root } })
  await agent.followup('first')
  await agent.whenIdle()

  const acknowledged = Promise.withResolvers<void>()
  const dieAt = async (here: Point): Promise<void> => {
    if (here !== point) return
    await acknowledged.promise
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {})
  }
  host.hooks.on(null, 'system-prompt/assemble', async (_event, next) => (await dieAt('assemble'), next()))
  host.hooks.on(null, 'agent/pre-step', async (_event, next) => (await dieAt('pre-step'), next()))
  host.hooks.on(null, 'agent/request', async (_event, next) => (await dieAt('request'), next()))
  const { prepare } = host
  host.prepare = async (config, signal) => {
    await dieAt('prepare')
    if (point === 'batch') await acknowledged.promise
    return prepare(config, signal)
  }
  // The batch stands in memory; the disk has not seen it.
  log.observe((events) => {
    const told = events.some((event) => event.type === 'user/message')
    if (told && point === 'batch') process.kill(process.pid, 'SIGKILL')
  })
  host.tools.add(
    null,
    tool('t', async () => (await dieAt('tool'), { content: [] })),
  )
  model.script = [
    { text: 'first answer' },
    {
      stream: async function* () {
        yield { t: 'open', i: 0, kind: 'text' }
        yield { t: 'delta', i: 0, s: 'half' }
        await dieAt('stream')
        yield { t: 'open', i: 1, kind: 'tool', callId: 'c', name: 't' }
        yield { t: 'end', finish: { kind: 'tool-calls' } }
      },
    },
  ]
  await agent.followup('second')
  acknowledged.resolve()
  await agent.whenIdle()
}

const [root, point] = process.argv.slice(2)
if (import.meta.main && root && point) await main(root, point as Point)
