import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, expect, type Page } from '@playwright/test'
import type { Reply } from '../mock-llm/reply.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'
import { startServer, type Served } from '../process.ts'
import { cookieOf } from './cookie.ts'

export interface World {
  /** The running server; replaced by `restart`. */
  server: Served
  dataDir: string
  /** Home of the server process. */
  home: string
  /** A folder that may be added as a workspace. */
  work: string
  /** SIGKILL or clean stop, then a new process on the same data folder and port: the page's address stays. */
  restart(how?: 'kill' | 'stop'): Promise<void>
}

export interface Options {
  /** Patch layers, written to files and given with `--patch`. */
  patches: string[]
  serverArgs: string[]
}

/** A page on a server of its own. Any console error, page error or policy report fails the test. */
export const test = base.extend<Options & { world: World; page: Page }>({
  patches: [[], { option: true }],
  serverArgs: [[], { option: true }],
  world: async ({ patches, serverArgs }, use) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-page-')))
    const dataDir = join(root, 'data')
    const work = join(root, 'tally')
    mkdirSync(dataDir)
    mkdirSync(work)
    const files = patches.map((text, index) => {
      const file = join(root, `patch-${index}.yml`)
      writeFileSync(file, text.replaceAll('{{work}}', work))
      return file
    })
    const args = [...files.flatMap((file) => ['--patch', file]), ...serverArgs]
    const server = await startServer({ dataDir, args, env: { HOME: root } })
    const port = new URL(server.base).port
    const world: World = {
      server,
      dataDir,
      home: root,
      work,
      async restart(how = 'stop') {
        await (how === 'kill' ? world.server.kill() : world.server.stop())
        world.server = await startServer({ dataDir, args: [...args, '--port', port], env: { HOME: root } })
      },
    }
    await use(world)
    await world.server.stop()
    rmSync(root, { recursive: true, force: true })
  },
  page: async ({ page }, use) => {
    const problems: string[] = []
    page.on('console', (message) => {
      // A refused connection while the server is down, or a kept one that was lost, is the browser's own line; the page
      // shows its state by itself.
      if (
        message.type() === 'error' &&
        !/ERR_CONNECTION_(REFUSED|RESET|CLOSED)|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED|WebSocket connection/.test(
          message.text(),
        )
      )
        problems.push(message.text())
    })
    page.on('pageerror', (error) => problems.push(error.message))
    await use(page)
    expect(problems).toEqual([])
  },
})

export interface Shop {
  server: Served
  mock: Mock
  dataDir: string
  /** The folder of every session, registered as a workspace. */
  work: string
  /** What the model answers to prompts that carry `mark(lane)`, in order. */
  script(lane: string, ...replies: Reply[]): void
}

/** Puts a prompt on a lane of the mock. */
export const mark = (lane: string): string => `[[lane:${lane}]]`

/**
 * One server for a whole file, with a scripted provider as its default model and a folder to work in: for tests that keep to
 * sessions of their own.
 */
export const shared = test.extend<object, { shop: Shop }>({
  shop: [
    // Playwright reads the fixtures wanted from this pattern.
    // oxlint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-shop-')))
      const dataDir = join(root, 'data')
      const work = join(root, 'tally')
      mkdirSync(dataDir)
      mkdirSync(work)
      const mock = await startMock()
      const server = await startServer({ dataDir, env: { HOME: root } })
      await furnish(server, mock, work)
      await use({ server, mock, dataDir, work, script: (lane, ...replies) => mock.script(lane, replies) })
      await server.stop()
      await mock.close()
      rmSync(root, { recursive: true, force: true })
    },
    { scope: 'worker' },
  ],
})

/** A folder, a provider that needs no key, and its model as the default. */
export async function furnish(server: Served, mock: Mock, work: string): Promise<void> {
  const client = await server.connect()
  await client.command('workspace.add', { path: work, confirmed: true })
  await client.command('provider.save', {
    id: 'mock',
    label: 'Mock provider',
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    key: 'none',
  })
  await client.command('model.default', { provider: 'mock', model: 'mock-model' })
  await client.close()
}

/** Opens a place of a server, logged in; `port` when a line lies in between. */
export async function visit(page: Page, server: Served, path = '', port?: number): Promise<void> {
  await page.context().addCookies([await cookieOf(server)])
  const address = new URL(server.base + path)
  if (port !== undefined) address.port = String(port)
  await page.goto(address.href)
}

/** Writes into the composer and presses Enter. */
export async function say(page: Page, text: string): Promise<void> {
  const composer = page.getByTestId('composer')
  await composer.fill(text)
  await composer.press('Enter')
}

/** Starts a session on a lane of the mock and waits until its prompt stands in the transcript. */
export async function begin(page: Page, shop: Shop, lane: string, preset?: 'minimal' | 'standard'): Promise<void> {
  await visit(page, shop.server, 'new')
  if (preset) await page.getByTestId('preset-card').filter({ hasText: preset }).first().click()
  await say(page, `${mark(lane)} go`)
  await expect(page.getByTestId('transcript')).toContainText(mark(lane))
}

/** One call of the standard preset's or the minimal preset's shell. */
export const bash = (command: string): Reply => ({
  toolCalls: [{ name: 'bash', arguments: JSON.stringify({ command }) }],
})

export { expect }

/** Demo answers without their pace. */
export const FAST_DEMO = '- id: llm-demo\n  config:\n    paceMs: 0\n'

/** First visit: opens the printed address and plays the scripted demo to the end of its first turn. */
export async function playDemo(page: Page, world: World): Promise<void> {
  await page.goto(world.server.url)
  await page.getByTestId('play-demo').click()
  await expect(page.getByTestId('transcript')).toContainText('prints 12')
  await expect(page.locator('.foot')).toBeVisible()
}

/** Notices leave by themselves after seconds; for a test that presses a button in one, they stay. */
export async function keepNotices(page: Page): Promise<void> {
  await page.addInitScript(
    'const real = setTimeout; window.setTimeout = (call, ms, ...args) => real(call, ms >= 4000 ? 1e9 : ms, ...args)',
  )
}

/** Adds the world's folder through the dialog, as a person does. */
export async function addFolder(page: Page, world: World): Promise<void> {
  await page.getByTestId('choose-folder').click()
  const path = page.getByRole('dialog').getByRole('textbox')
  await path.fill(world.work)
  await path.press('Enter')
  await page.getByTestId('use-folder').click()
}
