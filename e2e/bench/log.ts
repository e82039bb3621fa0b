import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeLine } from '../../server/log/jsonl/line.ts'
import { newHeader, SessionStore } from '../../server/log/store.ts'
import { draft } from '../../server/wire/events.ts'
import { newId } from '../../server/wire/ids.ts'
import type { Message } from '../../server/wire/messages.ts'
import { figure, paired, ROUNDS, timed, type Group } from './figure.ts'
import { scratch } from './rig.ts'

const EVENTS = 100_000
const PER_BARRIER = 100
/** Each round appends this share; the rounds that count make up the whole. */
const SHARE = EVENTS / ROUNDS

const message = (n: number): Message => ({
  id: `m${n}`,
  role: 'user',
  content: [{ type: 'text', text: 'The sum is printed once the empty line has been read.' }],
  source: { kind: 'user' },
})

export const group: Group = async () => {
  const { root, remove } = scratch()
  const store = new SessionStore(root, { allowNetworkDisk: true })
  await store.prepare()
  const log = store.create(newHeader({ id: newId(), createdAt: Date.now(), writer: 'bench' }))
  const plain = await open(join(root, 'floor.jsonl'), 'a')
  let n = 0
  const append = () =>
    timed(async () => {
      for (let batch = 0; batch < SHARE / PER_BARRIER; batch++) {
        for (let event = 0; event < PER_BARRIER; event++)
          log.append(draft('user/message', { turn: 1, step: 1, message: message(n++) }))
        await log.barrier()
      }
    })
  const batchBytes = () => {
    const [event] = log.append(draft('user/message', { turn: 1, step: 1, message: message(n++) }))
    return Buffer.from(encodeLine(event!).repeat(PER_BARRIER))
  }
  const write = async () => {
    const bytes = batchBytes()
    return timed(async () => {
      for (let batch = 0; batch < SHARE / PER_BARRIER; batch++) {
        await plain.write(bytes)
        await plain.datasync()
      }
    })
  }
  const share = await paired(append, write)
  const bytes = batchBytes().length / PER_BARRIER
  await log.close()
  await store.close()
  await plain.close()
  remove()
  return [
    figure({
      name: 'append 100,000 events, barrier per 100',
      unit: 'ms',
      value: share.value * ROUNDS,
      floor: share.floor * ROUNDS,
      floorIs: `write and fdatasync of the same bytes (${Math.round(bytes)} per event)`,
      judged: 'over',
      target: 1000,
    }),
  ]
}
