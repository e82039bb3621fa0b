import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startMock, type Mock } from '../mock-llm/server.ts'
import { begin, expect, furnish, mark, say, shared, test, visit } from './fixtures.ts'
import type { World } from './fixtures.ts'

shared('a session forks into another preset after a report of what that keeps and loses', async ({ page, shop }) => {
  shop.script(
    'fork',
    { toolCalls: [{ name: 'grep', arguments: JSON.stringify({ pattern: 'x' }) }] },
    { text: 'Looked.' },
    { text: 'Went on.' },
  )
  await begin(page, shop, 'fork', 'standard')
  await expect(page.locator('.foot')).toBeVisible()
  const source = page.url()
  await page.getByTestId('preset-chip').first().click()
  await page.getByTestId('fork-into').click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('From the end of turn 1.')
  await dialog.getByRole('option').filter({ hasText: 'minimal' }).click()
  const report = page.getByTestId('fork-report')
  await expect(report).toContainText('1 call is carried as text')
  await expect(report).toContainText('grep')
  await expect(report).toContainText('str_replace_editor')
  await page.getByTestId('fork-go').click()
  await expect(page).not.toHaveURL(source)
  await expect(page.getByTestId('preset-chip').first()).toContainText('minimal')
  await expect(page.getByTestId('transcript')).toContainText('Looked.')
  await say(page, `${mark('fork')} and on`)
  await expect(page.getByTestId('transcript')).toContainText('Went on.')
  const { body } = shop.mock.requests.filter((request) => request.lane === 'fork').at(-1)!
  const offered = (body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)
  expect(offered).not.toContain('grep')
})

shared('a fork can be made at a message, from the keyboard, by the palette', async ({ page, shop }) => {
  shop.script('palette', { text: 'One.' })
  await begin(page, shop, 'palette', 'standard')
  await expect(page.locator('.foot')).toBeVisible()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('Fork into')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toContainText('From the end of turn 1.')
  await page.keyboard.press('Escape')
  await page.locator('.said').first().hover()
  await page.locator('.said').first().getByRole('button', { name: 'Fork from here' }).click()
  await expect(page.getByRole('dialog')).toContainText('From the message')
})

/** A world whose default model is a mock, with a preset of its own. */
const own = test.extend<{ mock: Mock }>({
  mock: async ({ world }, use) => {
    const mock = await startMock()
    await furnish(world.server, mock, world.work)
    await use(mock)
    await mock.close()
  },
})

const fileOf = (world: World): string => join(world.dataDir, 'presets', 'mine.yml')

const documentOf = (prefix: string): string => `- id: mine
  name: agent-preset
  config:
    id: mine
    order: 9
    plugins:
      - id: persona
        name: persona
        config:
          prefix: ${prefix}
          complete: true
          includeRuntimeContext: false
`

own(
  'a session whose preset is gone stays readable, forks out of it, and heals when it is back',
  async ({ page, world, mock }) => {
    mock.script('gone', [{ text: 'Said while it was there.' }, { text: 'Healed.' }])
    writeFileSync(fileOf(world), documentOf('You are mine.'))
    await visit(page, world.server, 'new')
    await page.getByTestId('preset-card').filter({ hasText: 'mine' }).click()
    await say(page, `${mark('gone')} go`)
    await expect(page.locator('.foot')).toBeVisible()
    const session = page.url()
    rmSync(fileOf(world))
    await world.restart('stop')
    await page.goto(session)
    const banner = page.getByTestId('read-only')
    await expect(banner).toContainText('agent-preset/')
    await expect(page.getByTestId('transcript')).toContainText('Said while it was there.')
    await expect(page.getByTestId('composer')).toHaveAttribute('readonly', /.*/)

    const download = page.waitForEvent('download')
    await banner.getByRole('button', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toMatch(/\.jsonl$/)

    await page.getByTestId('tab-prompt').click()
    await expect(page.getByTestId('prompt-view')).toContainText('You are mine.')
    await page.getByTestId('tab-chat').click()

    await banner.getByRole('button', { name: 'Open with another preset' }).click()
    await page.getByRole('dialog').getByRole('option').filter({ hasText: 'minimal' }).click()
    await expect(page.getByTestId('fork-report')).toHaveAttribute('data-state', 'shown')
    await page.getByTestId('fork-go').click()
    await expect(page.getByTestId('preset-chip').first()).toContainText('minimal')
    await expect(page.getByTestId('read-only')).toHaveCount(0)

    await page.goto(session)
    await expect(banner).toBeVisible()
    writeFileSync(fileOf(world), documentOf('You are mine.'))
    await expect(banner).toHaveCount(0)
    await say(page, `${mark('gone')} go on`)
    await expect(page.getByTestId('transcript')).toContainText('Healed.')
  },
)

own(
  'a preset that has changed since is told in the transcript, and the two prompts can be compared',
  async ({ page, world, mock }) => {
    mock.script('since', [{ text: 'First.' }, { text: 'Second.' }])
    writeFileSync(fileOf(world), documentOf('You are the first.'))
    await visit(page, world.server, 'new')
    await page.getByTestId('preset-card').filter({ hasText: 'mine' }).click()
    await say(page, `${mark('since')} go`)
    await expect(page.locator('.foot')).toBeVisible()
    const session = page.url()
    await world.restart('stop')
    writeFileSync(fileOf(world), documentOf('You are the second.'))
    await visit(page, world.server, 'new')
    await expect(page.getByTestId('preset-card').filter({ hasText: 'You are the second.' })).toBeVisible()
    await page.goto(session)
    await say(page, `${mark('since')} go on`)
    await expect(page.getByTestId('preset-notice')).toHaveAttribute('data-kind', 'changed')
    await expect(page.locator('.foot')).toHaveCount(2)
    await page.getByTestId('tab-prompt').click()
    await page.getByTestId('compare-chip').click()
    await page.getByTestId('request-option').last().click()
    await expect(page.getByTestId('prompt-diff').first()).toContainText('You are the second.')
    await expect(page.getByTestId('prompt-diff').first().locator('em').first()).toBeVisible()
  },
)
