import { FAST_DEMO, expect, playDemo, test } from './fixtures.ts'

test.use({ patches: [FAST_DEMO] })

test('a first visit without a key reaches a finished demo turn with real tool calls', async ({ page, world }) => {
  await playDemo(page, world)
  expect(page.url()).not.toContain('token')
  await expect(page.getByTestId('tool-row').first()).toBeVisible()
  await expect(page.getByTestId('rail-session')).toHaveCount(1)
})

test('a reload and a restart find the session as it was, and it goes on', async ({ page, world }) => {
  await playDemo(page, world)
  const before = await page.getByTestId('transcript').innerText()
  await page.reload()
  await expect(page.getByTestId('transcript')).toContainText('prints 12')
  await world.restart('kill')
  await page.reload()
  await expect(page.getByTestId('transcript')).toContainText('prints 12')
  expect((await page.getByTestId('transcript').innerText()).length).toBeGreaterThan(before.length / 2)
  await page.getByTestId('composer').fill('and now?')
  await page.getByTestId('composer').press('Enter')
  await expect(page.getByTestId('transcript')).toContainText('That is the whole demo')
})
