import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from '@playwright/test'
import { cookieOf } from './browser/cookie.ts'
import { documentOf } from './browser/presets-screen.ts'
import { ROOT } from './host.ts'
import { startMock } from './mock-llm/server.ts'
import { startServer, type Served } from './process.ts'
import { SHOTS } from './shots/screens.ts'
import { furnishMonth, writeMonth, type HeldUp } from './shots/month.ts'
import { play, project, type Cast } from './shots/story.ts'

/**
 * Pictures of every screen in three sizes, light and dark, from the real server: `npm run shots [-- part-of-a-name]`.
 * They land in `reports/shots/<name>-<width>-<scheme>.png`.
 */
const OUT = join(ROOT, 'reports', 'shots')
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
] as const
const SCHEMES = ['light', 'dark'] as const
const only = process.argv[2] ?? ''

interface Stage {
  /** No folder, no session, no key. */
  bare: Served
  full: Served
  /** A second server on the data of `full`. */
  second: Served
  month: Served
  cast: Cast & HeldUp
}

async function stage(root: string): Promise<Stage & { end(): Promise<void> }> {
  const mock = await startMock({ models: ['deepseek-v4-flash', 'deepseek-v4-pro', 'qwen3-coder'] })
  const env = { HOME: root }
  const dirs = ['bare', 'full', 'month'].map((name) => join(root, name))
  for (const dir of dirs) mkdirSync(dir)
  const work = project(root)
  const bare = await startServer({ dataDir: join(root, 'bare'), env })
  const full = await startServer({ dataDir: join(root, 'full'), env })
  const slow = await startMock({ models: ['deepseek-v4-flash', 'deepseek-v4-pro'], repeatLast: true })
  await writeMonth(join(root, 'month'), join(root, 'code'))
  const month = await startServer({ dataDir: join(root, 'month'), env })
  const counted = await month.connect()
  const held = await furnishMonth(counted, join(root, 'code'), slow)
  await counted.close()
  const client = await full.connect()
  const gateway = { id: 'lab', label: 'Lab gateway', wire: 'chat', baseURL: `${mock.url}/v1`, key: 'stored' } as const
  await client.command('provider.save', gateway)
  await client.command('credential.set', { provider: 'lab', key: 'a-key-for-pictures' })
  await client.command('model.default', { provider: 'lab', model: 'deepseek-v4-flash' })
  await client.command('preset.import', { text: documentOf('data-lab', 'You explore tables.') })
  const cast = await play(client, mock, work)
  const second = await startServer({ dataDir: join(root, 'full'), env })
  return {
    bare,
    full,
    second,
    month,
    cast: { ...cast, ...held },
    async end() {
      await client.close()
      for (const server of [bare, second, month, full]) await server.kill()
      await mock.close()
      await slow.close()
    },
  }
}

/** Puts one refusal and one cut within reach: the rest of the page talks to the real server. */
async function tapSocket(page: Page): Promise<void> {
  let cut = false
  let end = () => {}
  await page.exposeFunction('cutTheLine', () => {
    cut = true
    end()
  })
  await page.routeWebSocket(/api\/socket/, (socket) => {
    if (cut) return void socket.close()
    const server = socket.connectToServer()
    end = () => void socket.close()
    socket.onMessage((message) => {
      const frame = JSON.parse(String(message)) as { t: string; name?: string; id?: string }
      if (frame.t !== 'command' || frame.name !== 'session.prompt') return server.send(message)
      const text = 'There is no model provider "lab-2". Choose another model, or add the provider in Settings > Models.'
      socket.send(
        JSON.stringify({ t: 'error', id: frame.id, error: { code: 'session/model-unavailable', message: text } }),
      )
    })
  })
}

async function take(browser: Browser, set: Stage, size: (typeof SIZES)[number]): Promise<number> {
  const phone = size.width < 760
  let taken = 0
  for (const shot of SHOTS) {
    if (!shot.name.includes(only) || (shot.phoneOnly && !phone)) continue
    const context = await browser.newContext({
      viewport: size,
      colorScheme: 'light',
      reducedMotion: 'reduce',
      hasTouch: phone,
      isMobile: phone,
    })
    const page = await context.newPage()
    await tapSocket(page)
    const server = set[shot.where]
    if (!shot.stranger) await context.addCookies([await cookieOf(server)])
    await page.goto(server.base + shot.path(set.cast))
    if (!shot.stranger)
      await page.locator('.app [aria-busy=true]:not([role=log])').first().waitFor({ state: 'detached' })
    await shot.show(page, phone).catch(async (cause: unknown) => {
      await page.screenshot({ path: join(OUT, `${shot.name}-${size.width}-missed.png`) })
      throw new Error(`${shot.name} at ${size.width} did not come to its state`, { cause })
    })
    await page.evaluate('document.fonts.ready.then(() => true)')
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ colorScheme: scheme })
      await page.screenshot({ path: join(OUT, `${shot.name}-${size.width}-${scheme}.png`), animations: 'disabled' })
      taken++
    }
    await context.close()
  }
  return taken
}

const started = Date.now()
mkdirSync(OUT, { recursive: true })
const root = mkdtempSync(join(tmpdir(), 'core-web-shots-'))
const set = await stage(root)
const found = join(ROOT, 'dist', 'browser-path')
const browser = await chromium.launch({
  executablePath: readFileSync(found, 'utf8'),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
try {
  const counts = await Promise.all(SIZES.map((size) => take(browser, set, size)))
  const total = counts.reduce((sum, count) => sum + count, 0)
  if ('session'.includes(only)) await copyFile(join(OUT, 'session-1440-light.png'), join(ROOT, 'docs/img/session.png'))
  console.log(`${total} pictures in ${OUT}, ${Math.round((Date.now() - started) / 1000)} s`)
} finally {
  await browser.close()
  await set.end()
  rmSync(root, { recursive: true, force: true })
}
