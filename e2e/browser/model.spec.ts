import { begin, expect, FAST_DEMO, keepNotices, say, shared, test, visit, playDemo } from './fixtures.ts'

shared('the model chip says which source is in effect: default, last request, picked', async ({ page, shop }) => {
  shop.script('sources', { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' })
  await keepNotices(page)
  await visit(page, shop.server, 'new')
  const chip = page.getByTestId('model-chip')
  await expect(chip).toHaveAttribute('title', 'default')
  await begin(page, shop, 'sources')
  await expect(page.getByTestId('transcript')).toContainText('One.')
  await expect(chip).toHaveAttribute('title', 'from the last request')

  const client = await shop.server.connect()
  const base = { label: 'Second provider', wire: 'chat', baseURL: `${shop.mock.url}/v1`, key: 'none' } as const
  await client.command('provider.save', { id: 'second', ...base, options: { models: ['other-model'] } })
  await chip.click()
  await page.getByRole('option', { name: /other-model/ }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Saved' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.locator('.pop')).toHaveCount(0)
  await expect(chip).toHaveAttribute('title', 'picked for the next request')
  await expect(chip).toContainText('other-model')
  await expect(page.getByTestId('transcript')).toContainText('Model picked: second/other-model')

  await page.reload()
  await expect(chip).toHaveAttribute('title', 'picked for the next request')
  await say(page, 'two')
  await expect(page.getByTestId('transcript')).toContainText('Two.')
  await expect(chip).toHaveAttribute('title', 'from the last request')
  await expect(chip).toContainText('other-model')
  await say(page, 'three')
  await expect(page.getByTestId('transcript')).toContainText('Three.')
  expect(shop.mock.requests.slice(-2).map(({ model }) => model)).toEqual(['other-model', 'other-model'])

  // B14 B20: the pick became the default, visibly.
  await page.getByTestId('new-session').click()
  await expect(chip).toContainText('other-model')
  await expect(chip).toHaveAttribute('title', 'default')
  await client.command('model.default', { provider: 'mock', model: 'mock-model' })
  await expect(chip).toContainText('mock-model')

  // L-15: a provider that goes away leaves its name, with the fix beside it.
  await client.command('provider.remove', { provider: 'second' })
  await page.goBack()
  await expect(chip).toContainText('other-model is gone')
  await chip.click()
  await expect(page.locator('.pop')).toContainText('second/other-model')
  await page.getByRole('button', { name: 'Fix', exact: true }).click()
  await expect(page).toHaveURL(/settings\/models$/)
  await client.close()
})

shared('the model list is worked with the keyboard alone, and Escape closes it', async ({ page, shop }) => {
  await visit(page, shop.server, 'new')
  await page.getByTestId('model-chip').focus()
  await page.keyboard.press('Enter')
  const find = page.getByRole('combobox')
  await expect(find).toBeFocused()
  await find.fill('scripted')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('model-chip')).toContainText(/scripted/)
  await find.fill('')
  await page.keyboard.press('Escape')
  await expect(find).toHaveCount(0)
})

test.describe('a default that another file sets', () => {
  test.use({ patches: [FAST_DEMO, '- id: agent-default-model\n  config: { provider: demo, model: scripted }\n'] })

  test('L-13 a pick whose default cannot be saved holds for the session and says why', async ({ page, world }) => {
    await keepNotices(page)
    await playDemo(page, world)
    const client = await world.server.connect()
    await client.command('provider.save', {
      id: 'own',
      label: 'Own provider',
      wire: 'chat',
      baseURL: 'http://127.0.0.1:9/v1',
      key: 'none',
      options: { models: ['own-model'] },
    })
    await page.getByTestId('model-chip').click()
    await page.getByRole('option', { name: /own-model/ }).click()
    await expect(page.getByRole('status').filter({ hasText: 'This session only' })).toContainText('comes after')
    await expect(page.getByTestId('model-chip')).toContainText('own-model')
    await client.close()
  })
})
