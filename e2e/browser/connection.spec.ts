import type { Page } from '@playwright/test'
import { begin, bash, expect, mark, say, shared as test, visit } from './fixtures.ts'
import { layLine } from './proxy.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, n) => `word${n} `).join('')

test('B65 two tabs: moving around in one leaves the run of the other alone, and both see the same', async ({
  page,
  shop,
  context,
}) => {
  shop.script('tabs', { ...bash("until [ -e go ]; do sleep 0.05; done; echo 'the file came'") }, { text: 'Both know.' })
  await begin(page, shop, 'tabs')
  await expect(page.getByTestId('tool-row')).toHaveAttribute('data-state', 'running')
  const other = await context.newPage()
  await other.goto(page.url())
  await expect(other.getByTestId('tool-row')).toHaveAttribute('data-state', 'running')
  await other.getByTestId('new-session').click()
  await expect(other.getByTestId('preset-card').first()).toBeVisible()
  await other.goBack()
  await expect(other.getByTestId('tool-row')).toHaveAttribute('data-state', 'running')
  await expect(page.getByTestId('stop')).toBeVisible()
  await other.close()
  shop.script('touch', bash('touch go'), { text: 'Touched.' })
  const third = await context.newPage()
  await visit(third, shop.server, 'new')
  await say(third, `${mark('touch')} go`)
  await expect(third.getByTestId('transcript')).toContainText('Touched.')
  await expect(page.getByTestId('transcript')).toContainText('Both know.')
  await expect(page.getByTestId('transcript')).toContainText('the file came')
})

test('B58 a line cut in the middle of a stream: no word is missing or stands twice afterwards', async ({
  page,
  shop,
}) => {
  const line = await layLine(Number(new URL(shop.server.base).port))
  shop.script('cut', { text: numbered(300), chunk: 40, gates: ['cut.one', 'cut.two'] })
  await visit(page, shop.server, 'new', line.port)
  await say(page, `${mark('cut')} count`)
  await expect(page.getByTestId('transcript')).toContainText('word20')
  line.cut()
  shop.mock.release('cut.one')
  await shop.mock.held('cut.two')
  expect(shop.mock.requests.filter(({ raw }) => raw.includes(mark('cut')))).toHaveLength(1)
  await line.mend()
  await expect(page.getByTestId('transcript')).toContainText('word150')
  await expect(page.getByTestId('transcript')).not.toContainText('word299')
  shop.mock.release('cut.two')
  await expect(page.getByTestId('transcript')).toContainText('word299')
  await expect(page.getByTestId('stop')).toBeHidden()
  const words = (await page.getByTestId('transcript').innerText()).match(/word\d+/g)
  expect(words).toEqual(Array.from({ length: 300 }, (_, n) => `word${n}`))
  line.cut()
})

/** Resolves when the page has lost its first socket: what is typed before that was sent. */
const socketClosed = (page: Page): Promise<void> =>
  new Promise((resolve) => void page.once('websocket', (socket) => void socket.once('close', () => resolve())))

test('B34 offline is said after three seconds; what was sent meanwhile waits, goes out once, and is answered', async ({
  page,
  shop,
}) => {
  const line = await layLine(Number(new URL(shop.server.base).port))
  const lostLine = socketClosed(page)
  shop.script('offline', { text: 'First.' }, { text: 'Second.' })
  await visit(page, shop.server, 'new', line.port)
  await say(page, `${mark('offline')} one`)
  await expect(page.getByTestId('transcript')).toContainText('First.')
  const pill = page.locator('.pill')
  await expect(pill).toBeHidden()
  line.cut()
  await lostLine
  const lost = Date.now()
  await say(page, 'typed without a line')
  await expect(page.locator('.tray')).toContainText('typed without a line')
  await expect(page.locator('.tray')).toContainText('Waits for the server')
  await expect(pill).toContainText('Reconnecting')
  expect(Date.now() - lost).toBeGreaterThan(2500)
  await line.mend()
  await expect(pill).toBeHidden()
  const transcript = page.getByTestId('transcript')
  await expect(transcript).toContainText('Second.')
  await expect(page.locator('.tray')).toBeHidden()
  expect((await transcript.innerText()).split('typed without a line').length - 1).toBe(1)
  expect(shop.mock.requests.filter(({ raw }) => raw.includes('typed without a line'))).toHaveLength(1)
  line.cut()
})

test('a message that waits for the line can be taken back', async ({ page, shop }) => {
  const line = await layLine(Number(new URL(shop.server.base).port))
  const lostLine = socketClosed(page)
  shop.script('back', { text: 'First.' })
  await visit(page, shop.server, 'new', line.port)
  await say(page, `${mark('back')} one`)
  await expect(page.getByTestId('transcript')).toContainText('First.')
  line.cut()
  await lostLine
  await say(page, 'on second thought')
  await page.locator('.tray').getByRole('button', { name: 'Take back' }).click()
  await expect(page.getByTestId('composer')).toHaveValue('on second thought')
  await expect(page.locator('.tray')).toBeHidden()
  await line.mend()
  await expect(page.locator('.pill')).toBeHidden()
  line.cut()
})
