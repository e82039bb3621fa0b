import { writeFileSync } from 'node:fs'
import { startMock } from '../mock-llm/server.ts'
import { expect, test, visit } from './fixtures.ts'
import { addRoute, rowOf } from './settings-screen.ts'

test('budgets are saved in dollars, kept over a restart, and taken back; what is no amount is refused', async ({
  page,
  world,
}) => {
  await visit(page, world.server, 'settings/sessions')
  const [session, day] = [page.getByLabel('Per session'), page.getByLabel('Per day')]
  const save = page.getByRole('button', { name: 'Save' })
  await session.fill('-1')
  await expect(page.getByRole('alert')).toContainText('above 0')
  await expect(save).toHaveAttribute('aria-disabled', 'true')
  await session.fill('2.5')
  await day.fill('20')
  await day.press('Enter')
  await expect(save).toHaveCount(0)
  await world.restart()
  await page.reload()
  await expect(session).toHaveValue('2.5')
  await expect(day).toHaveValue('20')
  await session.fill('')
  await session.press('Enter')
  await expect(save).toHaveCount(0)
  await page.reload()
  await expect(day).toHaveValue('20')
  await expect(session).toHaveValue('')
})

test('titles come from a chosen model, and again from the first prompt', async ({ page, world }) => {
  const mock = await startMock()
  await addRoute(world, { id: 'lab', label: 'Lab', wire: 'chat', baseURL: `${mock.url}/v1`, key: 'none' })
  await visit(page, world.server, 'settings/sessions')
  await page.getByRole('radio', { name: 'by a model' }).click()
  await page.getByTestId('titles-model').click()
  await page.getByRole('option', { name: /mock-model/ }).click()
  await page.keyboard.press('Escape')
  await expect(page.getByTestId('titles-model')).toContainText('mock-model')
  await page.reload()
  await expect(page.getByRole('radio', { name: 'by a model' })).toBeChecked()
  await page.getByRole('radio', { name: 'by the first prompt' }).click()
  await expect(page.getByTestId('titles-model')).toHaveCount(0)
  await page.reload()
  await expect(page.getByRole('radio', { name: 'by the first prompt' })).toBeChecked()
  await mock.close()
})

test('the default model is picked here; when its provider goes, it stays named with the fix beside it', async ({
  page,
  world,
}) => {
  const mock = await startMock()
  await addRoute(world, { id: 'lab', label: 'Lab', wire: 'chat', baseURL: `${mock.url}/v1`, key: 'stored' }, 'sk-a-key')
  await visit(page, world.server, 'settings/models')
  await expect(page.getByText('Nothing is chosen yet')).toBeVisible()
  await page.getByTestId('default-model').click()
  await page.getByRole('option', { name: /mock-model/ }).click()
  await page.keyboard.press('Escape')
  await expect(page.getByTestId('default-model')).toContainText('mock-model')
  await rowOf(page, 'lab').locator('.pv-open').click()
  await rowOf(page, 'lab').getByRole('button', { name: 'Remove', exact: true }).click()
  const gone = page.getByTestId('default-gone')
  await expect(gone).toContainText('mock-model')
  await gone.getByRole('button', { name: 'Add key' }).click()
  await expect(rowOf(page, 'lab').getByTestId('key-input')).toBeFocused()
  await rowOf(page, 'lab').getByRole('button', { name: 'Remove provider' }).click()
  await rowOf(page, 'lab').getByRole('button', { name: 'Remove it and its key' }).click()
  await expect(gone).toContainText('there is no provider lab')
  await expect(page.getByTestId('default-model')).toContainText('mock-model')
  await mock.close()
})

test('a setting is found by its name; the keyboard goes there', async ({ page, world }) => {
  await visit(page, world.server, 'settings/about')
  await page.getByLabel('Find a setting').fill('budget')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/settings\/sessions/)
  await page.getByLabel('Find a setting').fill('anthropic')
  await page.keyboard.press('Enter')
  await expect(rowOf(page, 'anthropic').getByLabel('Base URL')).toBeVisible()
  await page.getByLabel('Find a setting').fill('no such thing')
  await expect(page.getByText('No setting matches')).toBeVisible()
})

test('settings that were broken in the file are told where they belong', async ({ page, world }) => {
  writeFileSync(`${world.dataDir}/user.cordis.yml`, '- id: session-controller\n  config:\n    budget: { day: much }\n')
  await world.restart()
  await visit(page, world.server, 'settings/sessions')
  await expect(page.getByTestId('host-fault')).toContainText('user.cordis.yml')
})
