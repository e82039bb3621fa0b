import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type CDPSession, type Page } from '@playwright/test'
import { ROOT } from '../host.ts'
import { startServer, type Served } from '../process.ts'

export async function launch(): Promise<Browser> {
  const found = join(ROOT, 'dist/browser-path')
  const named = existsSync(found) ? readFileSync(found, 'utf8').trim() : process.env['CHROMIUM_PATH']
  const executablePath = named ?? (existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : undefined)
  // Chromium refuses its own sandbox to root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ args, ...(executablePath && { executablePath }) })
}

export interface BrowserRig {
  browser: Browser
  page: Page
  server: Served
  /** Milliseconds from the click on its line to the frame that shows its first row; leaves the session afterwards. */
  openSession(id: string): Promise<number>
  close(): Promise<void>
}

/** A server process on the data folder and one page that is past its login. */
export async function browserRig(dataDir: string): Promise<BrowserRig> {
  const server = await startServer({ dataDir })
  const browser = await launch()
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(server.url)
  await page.getByTestId('new-session').waitFor()
  return {
    browser,
    page,
    server,
    async openSession(id) {
      await page.locator(`[data-testid=rail-session] a[href$="${id}"]`).first().waitFor()
      const ms = await page.evaluate(clickToPaint, id)
      await page.getByTestId('new-session').click()
      await page.getByTestId('transcript').waitFor({ state: 'detached' })
      return ms
    },
    async close() {
      await browser.close()
      await server.stop()
    },
  }
}

/** Runs in the page. A message posted from an animation frame is handled right after that frame was painted. */
function clickToPaint(id: string): Promise<number> {
  const place = globalThis as unknown as { document: PageDocument; requestAnimationFrame(call: () => void): void }
  const started = performance.now()
  place.document.querySelector(`[data-testid=rail-session] a[href$="${id}"]`)!.click()
  return new Promise((resolve) => {
    const look = () => {
      if (!place.document.querySelector('[data-testid=transcript] [data-index]'))
        return place.requestAnimationFrame(look)
      const channel = new MessageChannel()
      channel.port1.addEventListener('message', () => {
        channel.port1.close()
        resolve(performance.now() - started)
      })
      channel.port1.start()
      channel.port2.postMessage(0)
    }
    place.requestAnimationFrame(look)
  })
}

/** What these scripts use of the page: the server's types know no DOM. */
interface PageDocument {
  querySelector(selector: string): { click(): void } | null
}

export interface Tasks {
  /** Milliseconds of the longest main-thread task: CPU of that thread, and by the clock. */
  longestCpu: number
  longestWall: number
  /** Milliseconds of all tasks together. */
  cpu: number
  count: number
}

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args?: { name?: string }
}

/** Every task of the page's main thread during `work`. On a busy machine the clock shows the others' work as well. */
export async function tasksDuring(browser: Browser, work: () => Promise<unknown>): Promise<Tasks> {
  const devtools: CDPSession = await browser.newBrowserCDPSession()
  const events: TraceEvent[] = []
  devtools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  await devtools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', '__metadata'] },
  })
  await work()
  const complete = new Promise<void>((resolve) => devtools.once('Tracing.tracingComplete', () => resolve()))
  await devtools.send('Tracing.end')
  await complete
  await devtools.detach()
  const mains = new Set(
    events
      .filter((event) => event.name === 'thread_name' && event.args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}.${tid}`),
  )
  const tasks = events.filter(
    ({ name, ph, pid, tid }) => ph === 'X' && /(^|::)RunTask$/.test(name) && mains.has(`${pid}.${tid}`),
  )
  if (tasks.length === 0) throw new Error('the trace holds no task of the page')
  const longest = (of: (event: TraceEvent) => number) => Math.max(...tasks.map(of)) / 1000
  return {
    longestCpu: longest(({ tdur = 0 }) => tdur),
    longestWall: longest(({ dur = 0 }) => dur),
    cpu: tasks.reduce((sum, { tdur = 0 }) => sum + tdur, 0) / 1000,
    count: tasks.length,
  }
}
