import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startProxy } from '../proxy.ts'
import { cookieOf } from './cookie.ts'
import { FAST_DEMO, expect, playDemo, test } from './fixtures.ts'

test.use({ patches: [FAST_DEMO] })

test('B73 without the cookie a login asks for the token, refuses a wrong one and takes the right one', async ({
  browser,
  world,
}) => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(world.server.base)
  const token = page.getByLabel(/access token/i)
  await token.fill('not the token')
  await page.getByRole('button', { name: /log in/i }).click()
  await expect(page.getByText(/not this server.s token/i)).toBeVisible()
  await token.fill(world.server.token)
  await page.getByRole('button', { name: /log in/i }).click()
  await expect(page.getByTestId('first-run')).toBeVisible()
  await world.restart()
  await page.reload()
  await expect(page.getByTestId('first-run')).toBeVisible()
  await context.close()
})

test('HS-05 the printed link opens the page once; used again it says so, beside the field for the token', async ({
  browser,
  world,
}) => {
  const [first, second] = [await browser.newContext(), await browser.newContext()]
  const page = await first.newPage()
  await page.goto(world.server.link)
  await expect(page.getByTestId('first-run')).toBeVisible()
  expect(page.url()).not.toContain('code')
  const late = await second.newPage()
  await late.goto(world.server.link)
  await expect(late.getByRole('alert')).toContainText('used already')
  expect(late.url()).not.toContain('code')
  await late.getByLabel(/access token/i).fill(world.server.token)
  await late.getByRole('button', { name: /log in/i }).click()
  await expect(late.getByTestId('first-run')).toBeVisible()
  await first.close()
  await second.close()
})

test('HS-16 B72 a proxy that the server was not told of: the page says who refused what, and the flag to set', async ({
  browser,
  world,
}) => {
  const proxy = await startProxy(new URL(world.server.base).origin, { host: 'inner' })
  const context = await browser.newContext()
  const page = await context.newPage()
  // Under another port Origin is a foreign one, as under another name.
  await page.goto(proxy.origin)
  await page.getByLabel(/access token/i).fill(world.server.token)
  await page.getByRole('button', { name: /log in/i }).click()
  await expect(page.getByRole('alert')).toContainText(`--allow-host ${proxy.origin}`)
  // Logged in before the proxy came: requests pass, the socket does not, and the page finds out why.
  const { name, value } = await cookieOf(world.server)
  await context.addCookies([{ name, value, url: proxy.origin }])
  await page.goto(proxy.origin)
  await expect(page.getByRole('alert')).toContainText(`--allow-host ${proxy.origin}`)
  await context.close()
  await proxy.close()
})

test('B73 a tab that is open while the token is exchanged comes to the login and back to its place', async ({
  browser,
  world,
}) => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(world.server.url)
  await expect(page.getByTestId('first-run')).toBeVisible()
  rmSync(join(world.dataDir, 'token'))
  await world.restart()
  await page.getByLabel(/access token/i).fill(world.server.token)
  await page.getByRole('button', { name: /log in/i }).click()
  await expect(page.getByTestId('first-run')).toBeVisible()
  await context.close()
})

test('a place that needs the login comes back to itself afterwards', async ({ page, browser, world }) => {
  await playDemo(page, world)
  const address = page.url()
  const context = await browser.newContext()
  const other = await context.newPage()
  await other.goto(address)
  await other.getByLabel(/access token/i).fill(world.server.token)
  await other.getByRole('button', { name: /log in/i }).click()
  await expect(other.getByTestId('transcript')).toContainText('prints 12')
  expect(other.url()).toBe(address)
  await context.close()
})

test.describe('below a path', () => {
  test.use({ serverArgs: ['--base-path', '/agents/'] })
  test('the page works below a base path, deep links included', async ({ page, world }) => {
    expect(world.server.base).toContain('/agents/')
    await playDemo(page, world)
    expect(new URL(page.url()).pathname).toMatch(/^\/agents\/s\//)
    await page.reload()
    await expect(page.getByTestId('transcript')).toContainText('prints 12')
  })
})
