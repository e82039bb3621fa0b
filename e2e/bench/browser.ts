import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from '@playwright/test'
import { browserRig, tasksDuring, type BrowserRig, type Tasks } from './chromium.ts'
import { switchFeedback } from './feedback.ts'
import { figure, median, ROUNDS, type Figure, type Group } from './figure.ts'
import { addMock, bigReply, mockProcess, mockSession, onLane, prose, scratch, DELTAS } from './rig.ts'

const LONGEST_MS = 50

/** A bare page that appends the same text to one text node, a frame's share per frame. */
async function plainAppend(browser: Browser): Promise<Tasks> {
  const page = await browser.newPage()
  await page.setContent('<pre style="white-space:pre-wrap"></pre>')
  const text = prose(DELTAS * 5)
  const tasks = await tasksDuring(browser, () => page.evaluate(appendByFrames, text))
  await page.close()
  return tasks
}

/** Runs in the page. */
function appendByFrames(text: string): Promise<void> {
  const place = globalThis as unknown as {
    document: { querySelector(selector: string): { append(text: string): void } }
    requestAnimationFrame(call: () => void): void
  }
  const pre = place.document.querySelector('pre')
  return new Promise((resolve) => {
    let at = 0
    const next = () => {
      pre.append(text.slice(at, (at += 2000)))
      if (at < text.length) place.requestAnimationFrame(next)
      else place.requestAnimationFrame(() => resolve())
    }
    place.requestAnimationFrame(next)
  })
}

/** One turn of 20,000 deltas in the page that shows the session. The page is not asked anything while it streams. */
async function streamed({ page, browser }: BrowserRig, turn: () => Promise<unknown>): Promise<Tasks> {
  return tasksDuring(browser, async () => {
    await turn()
    await page.getByTestId('send').waitFor()
  })
}

async function manyDeltas(rig: BrowserRig, root: string): Promise<Figure[]> {
  const mock = await mockProcess(root, { big: [bigReply()] })
  const client = await rig.server.connect()
  await addMock(client, mock)
  const work = join(root, 'work')
  mkdirSync(work, { recursive: true })
  const { workspace } = await client.command('workspace.add', { path: work, confirmed: true })
  const runs: Tasks[] = []
  const floors: Tasks[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const session = await mockSession(client, workspace.id)
    await client.attach(session)
    await rig.page.goto(new URL(`s/${session}`, rig.server.base).href)
    await rig.page.getByTestId('composer').waitFor()
    const whole = async () => {
      await client.command('session.prompt', { session, text: onLane('big') })
      await client.turnEnd(session, 1)
    }
    floors.push(await plainAppend(rig.browser))
    runs.push(await streamed(rig, whole))
  }
  await client.close()
  await mock.stop()
  const of = (tasks: readonly Tasks[], read: (one: Tasks) => number) => median(tasks.slice(1).map(read))
  const floorIs = 'a bare page that appends the same text once per frame'
  return [
    figure({
      name: '20,000 deltas, longest task',
      unit: 'ms CPU',
      value: of(runs, (one) => one.longestCpu),
      floor: of(floors, (one) => one.longestCpu),
      floorIs,
      judged: 'value',
      target: LONGEST_MS,
      note: `by the clock ${Math.round(of(runs, (one) => one.longestWall))} ms, floor ${Math.round(of(floors, (one) => one.longestWall))}`,
    }),
    figure({
      name: '20,000 deltas, main thread',
      unit: 'ms CPU',
      value: of(runs, (one) => one.cpu),
      floor: of(floors, (one) => one.cpu),
      floorIs,
      judged: 'value',
      target: 2000,
    }),
  ]
}

export const group: Group = async () => {
  const { root, remove } = scratch()
  const dataDir = join(root, 'data')
  mkdirSync(dataDir)
  const rig = await browserRig(dataDir)
  const figures = [...(await manyDeltas(rig, root)), await switchFeedback(rig, root)]
  await rig.close()
  remove()
  return figures
}
