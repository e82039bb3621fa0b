import type { Browser, Page } from '@playwright/test'
import { join } from 'node:path'
import { browserRig, tasksDuring, type BrowserRig, type Tasks } from './chromium.ts'
import { figure, median, ROUNDS, type Figure, type Group } from './figure.ts'
import { writeHistory } from './history.ts'
import { scratch } from './rig.ts'

const LONGEST_MS = 50
const ROWS = 1000
const EVENTS = 10_000

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
      // Three hundred frames without a new row: the beginning is reached, or older pages do not come.
      if (drawn >= rows || idle > 300) {
        observer.disconnect()
        return resolve(drawn)
      }
      scroller.scrollTop -= 300
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
  for (let round = 0; round < ROUNDS; round++) runs.push(await scrolled(rig.page, rig.browser, url))
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
  const figures = [await scrolling(rig, long.id)]
  await rig.close()
  remove()
  return figures
}
