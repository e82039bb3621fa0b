import { readFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { startHost } from '../host.ts'
import { browserRig } from './chromium.ts'
import { figure, median, paired, repeated, ROUNDS, timed, type Figure, type Group } from './figure.ts'
import { writeHistory, type WrittenSession } from './history.ts'
import { Meter } from './meter.ts'
import { scratch } from './rig.ts'

const EVENTS = 10_000
const TIMES = 3
/** Events of one page, which is all that an answer has to hold. */
const PAGE = 400

/** Attach to answer by a tab of its own; closing it lets the server forget what it read. */
async function coldAnswer(url: string, session: string): Promise<number> {
  const meter = await Meter.open(url)
  const answered = meter.next((text) => text.startsWith('{"t":"snapshot"'))
  const ms = await timed(() => {
    meter.send({ t: 'attach', session })
    return answered
  })
  meter.close()
  return ms
}

async function serverAnswer(dataDir: string, work: string, { id }: WrittenSession): Promise<Figure> {
  const host = await startHost({ dataDir, work })
  const file = globSync(join(dataDir, 'sessions', '**', id, '*.jsonl')).find((path) => !path.includes('journal'))!
  const times = await paired(
    () => repeated(TIMES, () => coldAnswer(host.url, id)),
    () =>
      repeated(TIMES, () =>
        timed(async () => {
          const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
          for (const line of lines.slice(-PAGE)) JSON.parse(line)
        }),
      ),
  )
  await host.close()
  return figure({
    name: '10,000 events, server answer (cold)',
    unit: 'ms',
    ...times,
    floorIs: `reading the file and parsing its last ${PAGE} lines`,
    judged: 'value',
    target: 30,
  })
}

async function firstPaint(dataDir: string, long: WrittenSession, short: WrittenSession): Promise<Figure> {
  const rig = await browserRig(dataDir)
  const longs: number[] = []
  const shorts: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    shorts.push(await rig.openSession(short.id))
    longs.push(await rig.openSession(long.id))
  }
  await rig.close()
  return figure({
    name: '10,000 events, click to first paint',
    unit: 'ms',
    value: median(longs.slice(1)),
    floor: median(shorts.slice(1)),
    floorIs: 'the same click on a session of one turn',
    judged: 'value',
    target: 150,
  })
}

export const group: Group = async () => {
  const { root, remove } = scratch()
  const dataDir = join(root, 'data')
  const long = await writeHistory(dataDir, root, EVENTS)
  const short = await writeHistory(dataDir, root, 10)
  const figures = [await serverAnswer(dataDir, root, long), await firstPaint(dataDir, long, short)]
  remove()
  return figures
}
