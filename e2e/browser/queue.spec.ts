import { bash, begin, expect, mark, say, shared as test, visit } from './fixtures.ts'
import type { Shop } from './fixtures.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A command that runs until the test lets it go. */
const gate = (name: string) => bash(`until [ -e ${name} ]; do sleep 0.05; done`)
const letGo = (shop: Shop, name: string) => writeFileSync(join(shop.work, name), '')

test('B67 queued messages are edited and taken back; the turn over, they are said in order', async ({ page, shop }) => {
  shop.script('queue', gate('queue-go'), { text: 'One is done.' }, { text: 'Two is done.' }, { text: 'Three is done.' })
  await begin(page, shop, 'queue')
  await expect(page.getByTestId('stop')).toBeVisible()
  for (const text of ['second', 'third', 'fourth']) await say(page, text)
  const rows = page.getByTestId('queue-row')
  await expect(rows).toHaveCount(3)
  await expect(rows.nth(0)).toContainText('Next')
  await expect(rows.nth(1)).toContainText('Then')

  await rows.nth(1).hover()
  await rows.nth(1).getByRole('button', { name: 'Edit' }).click()
  const edit = page.locator('.tray textarea')
  await edit.fill('third, in better words')
  await edit.press('Enter')
  await expect(rows.nth(1)).toContainText('third, in better words')

  await rows.nth(2).hover()
  await rows.nth(2).getByRole('button', { name: 'Take back' }).click()
  await expect(rows).toHaveCount(2)
  await expect(page.getByTestId('composer')).toHaveValue('fourth')

  letGo(shop, 'queue-go')
  const transcript = page.getByTestId('transcript')
  await expect(transcript).toContainText('Three is done.')
  await expect(rows).toHaveCount(0)
  await expect(page.locator('.said')).toContainText([mark('queue'), 'second', 'third, in better words'])
  await expect(page.getByTestId('composer')).toHaveValue('fourth')
})

test('a queued message is sent now: it reaches the model before the turn is over', async ({ page, shop }) => {
  shop.script('now', gate('now-go'), { text: 'I saw it in time.' })
  await begin(page, shop, 'now')
  await expect(page.getByTestId('stop')).toBeVisible()
  await say(page, 'this is urgent')
  const row = page.getByTestId('queue-row')
  await expect(row).toContainText('Next')
  await row.hover()
  await row.getByRole('button', { name: 'Send now' }).click()
  await expect(row).not.toContainText('Next')
  letGo(shop, 'now-go')
  await expect(page.getByTestId('transcript')).toContainText('I saw it in time.')
  await expect(page.locator('.foot')).toHaveCount(1)
  expect(JSON.stringify(shop.mock.requests.at(-1)!.body['messages'])).toContain('this is urgent')
})

test('Ctrl+Enter steers while plain Enter queues', async ({ page, shop }) => {
  shop.script('steer', gate('steer-go'), { text: 'Steered.' })
  await begin(page, shop, 'steer')
  await expect(page.getByTestId('stop')).toBeVisible()
  await page.getByTestId('composer').fill('turn left')
  await page.getByTestId('composer').press('Control+Enter')
  await expect(page.getByTestId('queue-row')).toContainText('Steer')
  letGo(shop, 'steer-go')
  await expect(page.getByTestId('transcript')).toContainText('Steered.')
  await expect(page.locator('.said').last()).toContainText('turn left')
  await expect(page.locator('.foot')).toHaveCount(1)
})

test('B67 Esc stops the turn and gives every queued text back, in order', async ({ page, shop }) => {
  shop.script('esc', gate('never-comes'))
  await begin(page, shop, 'esc')
  await expect(page.getByTestId('stop')).toBeVisible()
  await say(page, 'first thought')
  await say(page, 'second thought')
  await expect(page.getByTestId('queue-row')).toHaveCount(2)
  await page.getByTestId('composer').press('Escape')
  await expect(page.getByTestId('composer')).toHaveValue('first thought\n\nsecond thought')
  await expect(page.getByTestId('queue-row')).toHaveCount(0)
  await expect(page.locator('.foot')).toContainText('stopped by you')
})

test('B02 a refused command stays on screen with its code and a next step, and the text is kept', async ({
  page,
  shop,
}) => {
  const client = await shop.server.connect()
  await client.command('provider.save', {
    id: 'fleeting',
    label: 'Fleeting',
    wire: 'chat',
    baseURL: `${shop.mock.url}/v1`,
    key: 'none',
  })
  await visit(page, shop.server, 'new')
  await page.getByTestId('model-chip').click()
  await page.getByRole('option', { name: /Fleeting/ }).click()
  await page.getByRole('switch').click()
  await page.keyboard.press('Escape')
  await client.command('provider.remove', { provider: 'fleeting' })
  await expect(page.getByTestId('model-chip')).toContainText('is gone')
  await say(page, 'do not lose this')
  const problem = page.locator('.problem')
  await expect(problem).toContainText('session/model-unavailable')
  await expect(problem.getByRole('button', { name: 'Model settings' })).toBeVisible()
  await expect(page.getByTestId('composer')).toHaveValue('do not lose this')
  await page.getByTestId('new-session').click()
  await expect(problem).toBeVisible()
  await problem.getByRole('button', { name: 'Dismiss' }).click()
  await expect(problem).toHaveCount(0)
  await client.close()
})
