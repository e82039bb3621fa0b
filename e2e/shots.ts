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
  cast: Cast
}

interface Shot {
  name: string
  where: 'bare' | 'full' | 'second'
  path(cast: Cast): string
  /** Brings the screen to the state to show, and waits for it. */
  show(page: Page, phone: boolean): Promise<unknown>
  phoneOnly?: true
  /** Not logged in. */
  stranger?: true
}

/** A row with a name that no plugin has. */
const TYPO = `      - id: notes
        name: tool-tudo
      - id: limit
        name: tool-fs
        config:
          maxOutputChars: !!js env.CI ? 8000 : 16000
`

const sees = (page: Page, text: string) => page.getByText(text).first().waitFor()

const SHOTS: Shot[] = [
  { name: 'first-run', where: 'bare', path: () => '', show: (page) => page.getByTestId('first-run').waitFor() },
  { name: 'login', where: 'full', path: () => '', stranger: true, show: (page) => page.locator('form').waitFor() },
  {
    name: 'new-session',
    where: 'full',
    path: () => 'new',
    async show(page) {
      await page.getByTestId('composer').fill('The split loses a cent on 100 / 3. Find out why and fix it.')
      await page.getByTestId('preset-card').filter({ hasText: 'minimal' }).first().click()
      await page.locator('.delta').waitFor()
      await page.getByTestId('composer').focus()
    },
  },
  {
    name: 'folder',
    where: 'full',
    path: () => 'new',
    async show(page) {
      await page.getByTestId('workspace-chip').click()
      await page.getByText('Another folder').click()
      await page.getByRole('dialog').getByRole('option').first().waitFor()
    },
  },
  {
    name: 'session',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await sees(page, 'The remainder is kept now')
      await page.getByTestId('transcript').evaluate((element) => element.scrollTo(0, 0))
      await sees(page, 'test_split_keeps_remainder fails')
      await page.getByTestId('transcript').evaluate((element) => element.scrollTo(0, 0))
    },
  },
  {
    name: 'prompt',
    where: 'full',
    path: ({ finished }) => `s/${finished}/prompt/1/3`,
    show: (page) => page.getByTestId('prompt-view').waitFor(),
  },
  {
    name: 'prompt-difference',
    where: 'full',
    path: ({ finished, other }) => `s/${finished}/prompt/1/1?against=${other}.1.1`,
    show: (page) => page.getByTestId('prompt-diff').first().waitFor(),
  },
  {
    name: 'prompt-blank',
    where: 'full',
    path: ({ blank }) => `s/${blank}/prompt`,
    show: (page) => page.getByTestId('prompt-dry').waitFor(),
  },
  {
    name: 'locked',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.getByTestId('preset-chip').first().click()
      await page.getByTestId('fork-into').waitFor()
    },
  },
  {
    name: 'fork',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.getByTestId('preset-chip').first().click()
      await page.getByTestId('fork-into').click()
      await page.locator('[data-testid=fork-report][data-state=shown]').waitFor()
    },
  },
  {
    name: 'switched',
    where: 'full',
    path: ({ blank }) => `s/${blank}`,
    async show(page) {
      const chip = page.getByTestId('preset-chip').first()
      await chip.waitFor()
      const to = (await chip.textContent())?.includes('minimal') ? 'standard' : 'minimal'
      await chip.click()
      await page.getByRole('option').filter({ hasText: to }).first().click()
      await page.getByTestId('preset-delta').waitFor()
    },
  },
  {
    name: 'session-end',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    show: (page) => sees(page, 'Negative totals'),
  },
  {
    name: 'running',
    where: 'full',
    path: ({ running }) => `s/${running}`,
    show: (page) => page.getByTestId('queue-row').nth(1).waitFor(),
  },
  {
    name: 'failed',
    where: 'full',
    path: ({ failed }) => `s/${failed}`,
    show: (page) => page.locator('.problem').waitFor(),
  },
  {
    name: 'models',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.getByTestId('model-chip').last().click()
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'refused',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.getByTestId('composer').fill('Also cover negative totals')
      await page.getByTestId('composer').press('Enter')
      await page.locator('.problem').waitFor()
    },
  },
  {
    name: 'offline',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.evaluate('cutTheLine()')
      await page.getByTestId('composer').fill('Also cover negative totals')
      await page.getByTestId('composer').press('Enter')
      await page.locator('.pill').waitFor()
    },
  },
  {
    name: 'read-only',
    where: 'second',
    path: ({ finished }) => `s/${finished}`,
    show: (page) => page.getByTestId('read-only').waitFor(),
  },
  {
    name: 'settings-models',
    where: 'full',
    path: () => 'settings/models',
    async show(page) {
      const row = page.getByTestId('provider-row').filter({ hasText: 'Lab gateway' })
      await row.getByRole('button').first().click()
      await row.getByText('Base URL').waitFor()
    },
  },
  {
    name: 'settings-appearance',
    where: 'full',
    path: () => 'settings/appearance',
    show: (page) => sees(page, 'Theme'),
  },
  { name: 'settings-about', where: 'full', path: () => 'settings/about', show: (page) => sees(page, 'Data folder') },
  { name: 'presets', where: 'full', path: () => 'presets', show: (page) => page.getByRole('heading').nth(1).waitFor() },
  {
    name: 'presets-document',
    where: 'full',
    path: () => 'presets/minimal/document',
    show: (page) => page.getByTestId('preset-yaml').waitFor(),
  },
  {
    name: 'presets-generations',
    where: 'full',
    path: () => 'presets/standard/generations',
    show: (page) => page.getByTestId('generations').waitFor(),
  },
  {
    name: 'presets-edit',
    where: 'full',
    path: () => 'presets/data-lab/edit',
    async show(page) {
      await page.getByTestId('preset-text').click()
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.insertText(documentOf('data-lab', 'You explore tables. Show numbers first.', TYPO))
      await page.getByTestId('preset-problem').first().waitFor()
      await sees(page, 'draft kept')
    },
  },
  {
    name: 'palette',
    where: 'full',
    path: () => 'new',
    async show(page) {
      await page.getByTestId('composer').waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'rail-sheet',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    phoneOnly: true,
    async show(page) {
      await page.getByRole('button', { name: 'Sessions' }).click()
      await page.getByRole('dialog').getByTestId('rail-session').first().waitFor()
    },
  },
  { name: 'not-found', where: 'full', path: () => 's/none', show: (page) => page.locator('.empty').waitFor() },
]

async function stage(root: string): Promise<Stage & { end(): Promise<void> }> {
  const mock = await startMock({ models: ['deepseek-v4-flash', 'deepseek-v4-pro', 'qwen3-coder'] })
  const env = { HOME: root }
  const dirs = ['bare', 'full'].map((name) => join(root, name))
  for (const dir of dirs) mkdirSync(dir)
  const work = project(root)
  const bare = await startServer({ dataDir: join(root, 'bare'), env })
  const full = await startServer({ dataDir: join(root, 'full'), env })
  const client = await full.connect()
  const gateway = { id: 'lab', label: 'Lab gateway', wire: 'chat', baseURL: `${mock.url}/v1`, keyless: false } as const
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
    cast,
    async end() {
      await client.close()
      for (const server of [bare, second, full]) await server.kill()
      await mock.close()
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
