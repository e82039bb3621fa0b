import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from '@playwright/test'
import { browserRig, tasksDuring, type BrowserRig, type Tasks } from './chromium.ts'
import { figure, median, ROUNDS, type Figure, type Group } from './figure.ts'
import { writeHistory } from './history.ts'
import { addMock, bigReply, mockProcess, mockSession, onLane, prose, scratch, DELTAS } from './rig.ts'

const LONGEST_MS = 50
const ROWS = 1000
const EVENTS = 10_000

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

/** One turn of 20,000 deltas in the page that shows the session. */
async function streamed(rig: BrowserRig, turn: number, send: () => Promise<unknown>): Promise<Tasks> {
  const { page, browser } = rig
  return tasksDuring(browser, async () => {
    await send()
    await page.getByTestId('transcript').getByText(`turn ${turn} ends`).waitFor({ timeout: 60_000 })
    await page.getByTestId('send').waitFor()
  })
}

async function manyDeltas(rig: BrowserRig, root: string): Promise<Figure[]> {
  const reply = bigReply()
  const replies = Array.from({ length: ROUNDS + 1 }, (_, n) => ({
    ...reply,
    text: `${reply.text}\n\nturn ${n + 1} ends`,
  }))
  const mock = await mockProcess(root, { big: replies })
  const client = await rig.server.connect()
  await addMock(client, mock)
  const work = join(root, 'work')
  mkdirSync(work, { recursive: true })
  const { workspace } = await client.command('workspace.add', { path: work, confirmed: true })
  const session = await mockSession(client, workspace.id)
  await rig.page.goto(new URL(`s/${session}`, rig.server.base).href)
  await rig.page.getByTestId('composer').waitFor()
  const runs: Tasks[] = []
  const floors: Tasks[] = []
  for (let turn = 1; turn <= ROUNDS + 1; turn++) {
    floors.push(await plainAppend(rig.browser))
    const send = () => client.command('session.prompt', { session, text: onLane('big') })
    runs.push(await streamed(rig, turn, send))
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

/** Runs in the page: scrolls up, a wheel's worth per frame, until so many rows have been drawn. */
function scrollUp(rows: number): Promise<number> {
  interface Scroller {
    scrollTop: number
    dispatchEvent(event: object): void
  }
  const place = globalThis as unknown as {
    document: { querySelector(selector: string): Scroller }
    requestAnimationFrame(call: () => void): void
    MutationObserver: new (tell: (records: { addedNodes: Iterable<{ dataset?: { index?: string } }> }[]) => void) => {
      observe(target: object, options: object): void
      disconnect(): void
    }
  }
  const scroller = place.document.querySelector('[data-testid=transcript]')
  let drawn = 0
  const observer = new place.MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) if (node.dataset?.index !== undefined) drawn++
  })
  observer.observe(scroller, { childList: true, subtree: true })
  return new Promise((resolve) => {
    let idle = 0
    let before = 0
    const next = () => {
      idle = drawn === before ? idle + 1 : 0
      before = drawn
      // Five seconds without a new row: the beginning is reached, or older pages do not come.
      if (drawn >= rows || idle > 300) {
        observer.disconnect()
        return resolve(drawn)
      }
      scroller.scrollTop -= 120
      place.requestAnimationFrame(next)
    }
    place.requestAnimationFrame(next)
  })
}

async function scrolled(page: Page, browser: Browser, url: string): Promise<Tasks> {
  await page.goto(url)
  await page.locator('[data-testid=transcript] [data-index]').first().waitFor()
  let drawn = 0
  const tasks = await tasksDuring(browser, async () => {
    drawn = await page.evaluate(scrollUp, ROWS)
  })
  if (drawn < ROWS) throw new Error(`only ${drawn} rows came while scrolling`)
  return tasks
}

async function scrolling(rig: BrowserRig, long: string): Promise<Figure> {
  const url = new URL(`s/${long}`, rig.server.base).href
  const runs: Tasks[] = []
  // The floor stands still on the same page: what tasks cost that no scrolling causes.
  await rig.page.goto(url)
  await rig.page.locator('[data-testid=transcript] [data-index]').first().waitFor()
  const still = await tasksDuring(rig.browser, () =>
    rig.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500))),
  )
  for (let round = 0; round < 3; round++) runs.push(await scrolled(rig.page, rig.browser, url))
  return figure({
    name: `scrolling ${ROWS} rows of 10,000 events, longest task`,
    unit: 'ms CPU',
    value: median(runs.map((one) => one.longestCpu)),
    floor: still.longestCpu,
    floorIs: 'the same page at rest',
    judged: 'value',
    target: LONGEST_MS,
    note: `by the clock ${Math.round(median(runs.map((one) => one.longestWall)))} ms`,
  })
}

export const group: Group = async () => {
  const { root, remove } = scratch()
  const dataDir = join(root, 'data')
  const long = await writeHistory(dataDir, root, EVENTS)
  const rig = await browserRig(dataDir)
  const figures = [...(await manyDeltas(rig, root)), await scrolling(rig, long.id)]
  await rig.close()
  remove()
  return figures
}
