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
