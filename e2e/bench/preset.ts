import { setImmediate as tick } from 'node:timers/promises'
import { z } from 'zod'
import type { Catalog } from '../../server/preset/loader.ts'
import type { Patch } from '../../server/preset/patch.ts'
import { plugin } from '../../server/preset/kernel.ts'
import { newHeader } from '../../server/log/store.ts'
import { SessionLog } from '../../server/log/session-log.ts'
import { draft } from '../../server/wire/events.ts'
import { newId } from '../../server/wire/ids.ts'
import { startHost, type TestHost } from '../host.ts'
import { figure, paired, repeated, timed, type Figure, type Group } from './figure.ts'

const TIMES = 10
/** Switches there and back whose mounts are counted. */
const SWITCHES = 50
const SESSIONS = 1000

/** Mounts since the process began, by preset. */
const mounts = new Map<string, number>()
const mountsOf = (id: string): number => mounts.get(id) ?? 0

const counter = plugin({
  name: 'bench-counter',
  config: z.strictObject({ of: z.string() }),
  apply(_ctx, { of }: { of: string }) {
    mounts.set(of, mountsOf(of) + 1)
  },
})
const catalog: Catalog = { 'bench-counter': { plane: 'preset', load: async () => counter } }

/** A preset with tools and a prompt, which counts how often it is mounted. */
const counted = (id: string) => ({
  id,
  name: 'agent-preset',
  config: {
    id,
    plugins: [
      { id: 'counter', name: 'bench-counter', config: { of: id } },
      { id: 'persona', name: 'persona', config: { prefix: 'You are {{model}}.' } },
      { id: 'bash', name: 'tool-bash' },
      { id: 'files', name: 'tool-fs' },
    ],
  },
})
const patches = [{ insert: ['one', 'other', 'crowd'].map(counted) }] as unknown as Patch[]

async function blank(host: TestHost, workspace: string, preset: string): Promise<string> {
  const { session } = await host.host.service('sessions')!.create({ workspace, preset })
  return session
}

async function heapKilobytes(): Promise<number> {
  // Two passes: the first one queues finalizers whose objects only the second one frees.
  for (let pass = 0; pass < 2; pass++) {
    gc!()
    await tick()
  }
  return process.memoryUsage().heapUsed / 1024
}

async function switches(host: TestHost, workspace: string): Promise<Figure[]> {
  const sessions = host.host.service('sessions')!
  const session = await blank(host, workspace, 'standard')
  const plain = sessions.live(await blank(host, workspace, 'standard'))!.log
  let to = 0
  const times = await paired(
    () => repeated(TIMES, () => timed(() => sessions.selectPreset(session, ['minimal', 'standard'][to++ % 2]!))),
    () =>
      repeated(TIMES, () =>
        timed(async () => {
          plain.append(draft('session/title', { title: 'bench', source: 'user' }))
          await plain.barrier()
        }),
      ),
  )
  const moving = await blank(host, workspace, 'one')
  await sessions.selectPreset(moving, 'other')
  const mounted = () => mountsOf('one') + mountsOf('other')
  const before = mounted()
  for (let n = 0; n < SWITCHES; n++) await sessions.selectPreset(moving, n % 2 === 0 ? 'one' : 'other')
  return [
    figure({
      name: 'switch of a blank session, server time',
      unit: 'ms',
      ...times,
      floorIs: 'one event appended to a log and on disk',
      judged: 'value',
      target: 5,
    }),
    figure({
      name: `re-mounts in ${SWITCHES} switches`,
      unit: 'mounts',
      value: mounted() - before,
      floor: 0,
      floorIs: 'none is needed',
      judged: 'value',
      target: 0,
      gate: 0,
    }),
  ]
}

/** Heap in KB that one more of `SESSIONS` made things keeps. */
async function kept(make: () => Promise<unknown>): Promise<number> {
  // What is loaded or mounted once comes with the first.
  const held = [await make()]
  const before = await heapKilobytes()
  while (held.length < SESSIONS) held.push(await make())
  const after = await heapKilobytes()
  if (held.length !== SESSIONS) throw new Error('the made things were not kept')
  return (after - before) / (SESSIONS - 1)
}

async function crowd(host: TestHost, workspace: string): Promise<Figure[]> {
  const floor = await kept(async () =>
    SessionLog.memory(newHeader({ id: newId(), createdAt: Date.now(), writer: 'bench', cwd: host.work })),
  )
  const value = await kept(() => blank(host, workspace, 'crowd'))
  const open = host.host.service('agents')!.list().length
  if (open < SESSIONS) throw new Error(`of ${SESSIONS} sessions only ${open} have an agent`)
  return [
    figure({
      name: '1,000 blank sessions on one preset',
      unit: 'mounts',
      value: mountsOf('crowd'),
      floor: 1,
      floorIs: 'a preset in use is mounted',
      judged: 'value',
      target: 1,
      gate: 1,
    }),
    figure({
      name: 'one more of 1,000 blank sessions, heap kept',
      unit: 'KB',
      value,
      floor,
      floorIs: 'a log in memory alone',
      judged: 'value',
      target: 100,
    }),
  ]
}

export const group: Group = async () => {
  const host = await startHost({ catalog, patches })
  const client = await host.connect()
  const workspace = await host.workspace(client)
  await client.close()
  const figures = [...(await switches(host, workspace)), ...(await crowd(host, workspace))]
  await host.remove()
  return figures
}
