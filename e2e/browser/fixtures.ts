import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, expect, type Page } from '@playwright/test'
import { startServer, type Served } from '../process.ts'

export interface World {
  /** The running server; replaced by `restart`. */
  server: Served
  dataDir: string
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
      // A refused connection while the server is down is the browser's own line; the page shows its state by itself.
      if (
        message.type() === 'error' &&
        !/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|WebSocket connection/.test(message.text())
      )
        problems.push(message.text())
    })
    page.on('pageerror', (error) => problems.push(error.message))
    await use(page)
    expect(problems).toEqual([])
  },
})

export { expect }

/** Demo answers without their pace. */
export const FAST_DEMO = '- id: llm-demo\n  config:\n    paceMs: 0\n'

/** First visit: opens the printed address and plays the scripted demo to the end of its first turn. */
export async function playDemo(page: Page, world: World): Promise<void> {
  await page.goto(world.server.url)
  await page.getByTestId('play-demo').click()
  await expect(page.getByTestId('transcript')).toContainText('prints 12', { timeout: 30_000 })
}

/** Adds the world's folder through the dialog, as a person does. */
export async function addFolder(page: Page, world: World): Promise<void> {
  await page.getByTestId('choose-folder').click()
  const path = page.getByRole('dialog').getByRole('textbox')
  await path.fill(world.work)
  await path.press('Enter')
  await page.getByTestId('use-folder').click()
}
