import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import type { Client } from '../client.ts'
import type { Reply } from '../mock-llm/reply.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'
import { expect, test, visit, type World } from './fixtures.ts'
import { audit } from './presets-screen.ts'

/** Dollars per million tokens: a request of `PRICED` costs 0.10 + 0.03 + 0.08. */
const PRICE = { in: 1, cacheRead: 0.1, out: 4 }
const PRICED: Reply = {
  text: 'Done.',
  usage: { input: 100_000, cacheRead: 300_000, output: 20_000, reasoning: 5000 },
}

interface Played {
  mock: Mock
  client: Client
  sessions: string[]
}

/** Two priced requests in two folders and presets, and one of a model that has no price. */
async function play(world: World): Promise<Played> {
  const mock = await startMock({ models: ['mock-model', 'plain'] })
  const client = await world.server.connect()
  const other = join(world.home, 'docs')
  mkdirSync(other)
  const folders = []
  for (const path of [world.work, other])
    folders.push((await client.command('workspace.add', { path, confirmed: true })).workspace.id)
  await client.command('provider.save', {
    id: 'mock',
    label: 'Mock provider',
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    key: 'none',
  })
  await client.command('model.facts', { provider: 'mock', model: 'mock-model', facts: { price: PRICE } })
  const sessions = []
  for (const [workspace, preset, model] of [
    [folders[0], 'minimal', 'mock-model'],
    [folders[1], 'standard', 'mock-model'],
    [folders[1], 'standard', 'plain'],
  ] as const) {
    mock.script('*', [PRICED])
    const { session } = await client.command('session.create', {
      workspace: workspace!,
      preset,
      prompt: `ask ${model} with ${preset}`,
      selection: { provider: 'mock', model, alsoDefault: false },
    })
    await client.attach(session)
    await client.turnEnd(session, 1)
    sessions.push(session)
  }
  return { mock, client, sessions }
}

test('figures, filters, units, the table and the file agree with what was asked', async ({ page, world }) => {
  const { mock, client } = await play(world)
  await visit(page, world.server, 'usage')
  const figure = (name: string) => page.getByTestId(`figure-${name}`)
  await expect(figure('cost')).toContainText('≈ $0.42')
  await expect(figure('cost')).toContainText('nothing in the 30 days before')
  await expect(figure('requests')).toContainText('3')
  await expect(figure('input')).toContainText('1.2M')
  await expect(figure('input')).toContainText('75% from cache')
  await expect(figure('output')).toContainText('60k')
  await expect(figure('output')).toContainText('25% of it thinking')
  await expect(figure('saved')).toContainText('≈ $0.54')

  const models = page.getByTestId('usage-model')
  await expect(models).toHaveCount(3)
  await expect(models.filter({ hasText: 'plain' })).toContainText('no price')
  await expect(page.getByTestId('usage-unpriced')).toContainText('1 request has no known price')
  await expect(page.getByTestId('set-price')).toHaveAttribute('href', /settings\/models\?provider=mock&model=plain$/)
  await expect(page.getByTestId('usage-sessions').getByRole('link')).toHaveCount(3)

  const whole = await download(page)
  expect(whole[0]).toContain('day,provider,model,preset,folder,requests')
  expect(whole).toHaveLength(4)
  expect(whole.filter((line) => line.includes(',mock-model,') && line.includes(',0.21,'))).toHaveLength(2)

  await page.getByTestId('usage-preset').click()
  await page.getByRole('option', { name: 'minimal' }).click()
  await expect(figure('cost')).toContainText('≈ $0.21')
  await expect(models).toHaveCount(1)
  await expect(page).toHaveURL(/usage\?preset=minimal$/)
  expect(await download(page)).toHaveLength(2)
  await page.reload()
  await expect(figure('requests')).toContainText('1')
  await page.getByTestId('usage-folder').click()
  await page.getByRole('option', { name: /docs/ }).click()
  await expect(page.getByTestId('usage-empty')).toContainText('Nothing matches these filters')
  await page.getByRole('link', { name: 'Show everything' }).click()
  await expect(figure('requests')).toContainText('3')

  await page.getByRole('radio', { name: 'Tokens' }).click()
  await expect(page).toHaveURL(/unit=tokens/)
  await expect(page.getByTestId('usage-readout')).toContainText('1.3M')
  await page.getByRole('radio', { name: '7 d' }).click()
  await page.getByTestId('usage-as-table').click()
  await expect(page.getByTestId('usage-day-table').locator('tbody tr')).toHaveCount(7)
  await expect(page.getByTestId('usage-day-table').locator('tbody tr').first()).toContainText('1.3M')
  await client.close()
  await mock.close()
})

test('the arrow keys read the days; a link leads into a session; the limit of the day is shown', async ({
  page,
  world,
}) => {
  const { mock, client, sessions } = await play(world)
  await client.command('budget.save', { day: 1 })
  await visit(page, world.server, 'usage?days=7')
  await expect(page.getByTestId('usage-budget')).toContainText('≈ $0.42 of $1.00')
  await expect(page.getByTestId('usage-budget').getByRole('meter')).toHaveAttribute('aria-valuemax', '1')
  await expect(page.getByTestId('usage-budget')).toContainText('1 request today has no price')
  await expect(page.getByTestId('set-limit')).toHaveAttribute('href', /settings\/sessions$/)

  const readout = page.getByTestId('usage-readout')
  const slider = page.getByTestId('usage-scrub')
  await expect(readout).toContainText('$0.42')
  await expect(readout).toContainText('day limit $1.00')
  await slider.focus()
  await page.keyboard.press('End')
  await expect(readout).toHaveAttribute('data-day', /^\d{4}-\d\d-\d\d$/)
  await expect(readout).toContainText('input, uncached$0.20')
  const last = await readout.getAttribute('data-day')
  await page.keyboard.press('ArrowLeft')
  await expect(readout).toContainText('$0.00')
  expect((await readout.getAttribute('data-day'))! < last!).toBe(true)
  await expect(slider).toHaveAttribute('aria-valuenow', '6')
  await page.keyboard.press('ArrowRight')
  await expect(slider).toHaveAttribute(
    'aria-valuetext',
    /\$0\.42, output \$0\.16, input, cached \$0\.06, input, uncached/,
  )
  await page.keyboard.press('Escape')
  await expect(readout).not.toHaveAttribute('data-day')
  const box = (await slider.boundingBox())!
  await page.mouse.move(box.x + box.width - 4, box.y + 40)
  await expect(readout).toHaveAttribute('data-day', last!)

  await page.getByTestId('usage-sessions').getByRole('link', { name: 'ask mock-model with minimal' }).click()
  await expect(page).toHaveURL(new RegExp(`s/${sessions[0]}$`))
  await client.close()
  await mock.close()
})

test('it is found from the rail and the palette; before the first request it says what will stand here', async ({
  page,
  world,
}) => {
  await visit(page, world.server, 'new')
  await page.getByRole('button', { name: 'Usage' }).click()
  await expect(page.getByTestId('usage-empty')).toContainText('No requests yet')
  await page.goto(`${world.server.base}new`)
  await expect(page.getByRole('button', { name: 'Usage' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: 'Usage' }).click()
  await expect(page).toHaveURL(/usage$/)
  expect(await audit(page)).toEqual([])
})

test('what could not be loaded says why and is tried again', async ({ page, world }) => {
  let broken = true
  await page.route(/api\/usage\?/, (route) => (broken ? route.abort('connectionrefused') : route.continue()))
  await visit(page, world.server, 'usage')
  await expect(page.getByRole('alert')).toContainText('gateway/internal')
  broken = false
  // A pointer would bring the focus, and the page then looks again by itself.
  await page.getByRole('alert').getByRole('button').dispatchEvent('click')
  await expect(page.getByTestId('usage-empty')).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
})

for (const scheme of ['light', 'dark'] as const)
  test(`the usage screen passes the accessibility audit in ${scheme}`, async ({ page, world }) => {
    const { mock, client } = await play(world)
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    for (const path of ['usage', 'usage?unit=requests&days=7']) {
      await visit(page, world.server, path)
      await expect(page.getByTestId('usage-models')).toBeVisible()
      expect(await audit(page), path).toEqual([])
    }
    await page.getByTestId('usage-as-table').click()
    await expect(page.getByTestId('usage-day-table')).toBeVisible()
    expect(await audit(page)).toEqual([])
    await client.close()
    await mock.close()
  })

/** The lines of the file behind the CSV link. */
async function download(page: Page): Promise<string[]> {
  const coming = page.waitForEvent('download')
  await page.getByTestId('usage-csv').click()
  const file = await (await coming).path()
  return readFileSync(file, 'utf8').trim().split('\r\n')
}
