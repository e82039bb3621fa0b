import { setImmediate as tick } from 'node:timers/promises'
import { newId } from '../../server/wire/ids.ts'
import { newHeader } from '../../server/log/store.ts'
import { SessionLog } from '../../server/log/session-log.ts'
import { startHost } from '../host.ts'
import { figure, median, paired, repeated, ROUNDS, timed, type Group } from './figure.ts'

const TIMES = 10
/** Sessions made for one reading of the heap. */
const HELD = 40

async function heapKilobytes(): Promise<number> {
  // Two passes: the first one queues finalizers whose objects only the second one frees.
  for (let pass = 0; pass < 2; pass++) {
    gc!()
    await tick()
  }
  return process.memoryUsage().heapUsed / 1024
}

/** Heap that one made thing keeps, in KB. */
async function retained(make: () => Promise<unknown>): Promise<number> {
  const kept: unknown[] = []
  const before = await heapKilobytes()
  for (let n = 0; n < HELD; n++) kept.push(await make())
  const after = await heapKilobytes()
  if (kept.length !== HELD) throw new Error('the made things were not kept')
  return (after - before) / HELD
}

export const group: Group = async () => {
  const host = await startHost()
  const client = await host.connect()
  const workspace = await host.workspace(client)
  const sessions = host.host.service('sessions')!
  const store = host.host.service('sessionStore')!
  const bare = () => newHeader({ id: newId(), createdAt: Date.now(), writer: 'bench', cwd: host.work })
  const none = newId()
  const socket = await paired(
    () => repeated(TIMES, () => timed(() => client.command('session.create', { workspace }))),
    () => repeated(TIMES, () => timed(() => client.command('session.stop', { session: none }))),
  )
  const inside = await paired(
    () => repeated(TIMES, () => timed(() => sessions.create({ workspace }))),
    () => repeated(TIMES, () => timed(() => store.create(bare()))),
  )
  const heaps: number[] = []
  const floors: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(await retained(async () => SessionLog.memory(bare())))
    heaps.push(await retained(() => sessions.create({ workspace })))
  }
  await client.close()
  await host.remove()
  return [
    figure({
      name: 'blank session over the socket',
      unit: 'ms',
      ...socket,
      floorIs: 'a command that does nothing, over the same socket',
      judged: 'value',
      target: 3,
    }),
    figure({
      name: 'blank session in process',
      unit: 'ms',
      ...inside,
      floorIs: 'a log without agent and preset',
      judged: 'value',
      target: 3,
    }),
    figure({
      name: 'blank session, heap kept',
      unit: 'KB',
      value: median(heaps),
      floor: median(floors),
      floorIs: 'a log in memory alone',
      judged: 'value',
      target: 100,
    }),
  ]
}
