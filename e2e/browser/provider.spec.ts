import { startMock } from '../mock-llm/server.ts'
import { addFolder, bash, expect, say, test } from './fixtures.ts'

const KEY = 'sk-never-shown-1234567890'

test('a provider of one’s own: added, keyed, tested, picked, used; the key never comes back', async ({
  page,
  world,
}) => {
  const mock = await startMock()
  const heard: string[] = []
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => heard.push(String(payload))))
  page.on('response', async (response) => {
    if (response.url().includes('/api/')) heard.push(await response.text().catch(() => ''))
  })

  await page.goto(world.server.url)
  await addFolder(page, world)
  await expect(page.getByTestId('model-chip')).toBeVisible()
  await page.goto(`${world.server.base}settings/models`)
  await page.getByTestId('add-provider').click()
  await page
    .getByRole('group', { name: /Choose what/ })
    .getByRole('button', { name: 'OpenAI compatible' })
    .click()
  await page.getByLabel('Name').fill('Own gateway')
  await expect(page.getByText('Its id is own-gateway.')).toBeVisible()
  await page.getByLabel('Base URL').fill(`${mock.url}/v1`)
  await page.locator('form').getByRole('button', { name: 'Add provider' }).click()
  const row = page.getByTestId('provider-row').filter({ hasText: 'Own gateway' })
  await expect(row).toContainText('no key')
  await row.getByTestId('key-input').fill(KEY)
  await row.getByTestId('key-input').press('Enter')
  await expect(row).toContainText(/Stored \d+ \w+ 20/)
  await expect(row.locator('input[type=password]')).toHaveCount(0)
  mock.script('*', [{ text: 'ready' }])
  await row.getByRole('button', { name: 'Test connection' }).click()
  await expect(row.getByTestId('probe')).toContainText('works')
  await expect(row.locator('.probe')).toContainText(`${mock.url}/v1`)

  await expect(row.locator('.probe')).toContainText(`Bearer [key, ${KEY.length} characters]`)

  await page.reload()
  await expect(row).toContainText('1 model')
  await page.getByTestId('new-session').click()
  await page.getByTestId('model-chip').click()
  await page.getByRole('option', { name: /Own gateway/ }).click()
  await page.keyboard.press('Escape')
  await expect(page.getByTestId('model-chip')).toContainText('mock-model')
  expect(mock.left()).toBe(0)
  mock.script('*', [
    { ...bash('echo from-the-tool'), reasoning: 'I look first.', usage: { input: 900, cacheRead: 100, output: 40 } },
    { text: 'Some words that come slowly, one after the other, until all are here.', gates: ['midway'] },
  ])
  await say(page, 'use the tool')
  const transcript = page.getByTestId('transcript')
  await expect(transcript).toContainText('Some words')
  await expect(transcript).not.toContainText('until all are here.')
  await expect(page.getByTestId('stop')).toBeVisible()
  mock.release('midway')
  await expect(transcript).toContainText('until all are here.')
  await expect(page.getByTestId('tool-row')).toHaveAttribute('data-state', 'done')
  await page.getByTestId('tool-row').click()
  await expect(page.getByRole('figure')).toContainText('from-the-tool')
  // 900 + 100 and 20 + 5 tokens in, 40 and 9 out.
  await expect(page.locator('.foot')).toContainText('1k in, 49 out')
  await expect(page.locator('.foot')).toContainText('mock-model')

  expect(mock.requests.at(-1)!.headers['authorization']).toBe(`Bearer ${KEY}`)
  expect(heard.length).toBeGreaterThan(5)
  expect(heard.filter((text) => text.includes(KEY))).toEqual([])
  await page.goto(`${world.server.base}settings/models?provider=own-gateway`)
  await expect(row).toContainText('Stored')
  await expect(row).toContainText('2 requests in 30 d')
  const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')
  expect(`${String(kept)}${await page.content()}`).not.toContain(KEY)
  await mock.close()
})
