import type { Page } from '@playwright/test'
import { bash, expect, mark, say, shared as test, visit } from './fixtures.ts'
import type { Shop } from './fixtures.ts'

async function blank(page: Page, shop: Shop, preset = 'standard'): Promise<string> {
  const client = await shop.server.connect()
  const workspace = (await client.command('workspace.add', { path: shop.work, confirmed: true })).workspace.id
  const { session } = await client.command('session.create', { workspace, preset })
  await client.close()
  await visit(page, shop.server, `s/${session}`)
  await expect(chip(page)).toContainText(preset)
  return session
}

const chip = (page: Page) => page.getByTestId('preset-chip').first()

async function pick(page: Page, preset: string): Promise<void> {
  await chip(page).click()
  await page.getByRole('option').filter({ hasText: preset }).first().click()
}

test('a blank session switches: draft and model stay, what changed is said, and can be undone', async ({
  page,
  shop,
}) => {
  await blank(page, shop)
  await page.getByTestId('composer').fill('half a thought')
  await pick(page, 'minimal')
  await expect(chip(page)).toContainText('minimal')
  const delta = page.getByTestId('preset-delta')
  await expect(delta).toContainText('standard to minimal')
  await expect(delta).toContainText('tools +')
  await expect(delta).toContainText('draft and model kept')
  await expect(page.getByTestId('composer')).toHaveValue('half a thought')
  await expect(page.getByTestId('model-chip').last()).toContainText('mock-model')
  await delta.getByRole('button', { name: 'Prompt diff' }).click()
  await expect(delta.locator('.diff')).toBeVisible()
  await page.reload()
  await expect(chip(page)).toContainText('minimal')
  await expect(page.getByTestId('composer')).toHaveValue('half a thought')
  await pick(page, 'standard')
  await expect(page.getByTestId('preset-delta')).toContainText('minimal to standard')
  await page.getByTestId('preset-delta').getByRole('button', { name: 'Undo' }).click()
  await expect(chip(page)).toContainText('minimal')
})

test('the label changes before the server answers, and goes back when it refuses', async ({ page, shop }) => {
  let refuse = () => {}
  await page.routeWebSocket(/api\/socket/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((message) => {
      const frame = JSON.parse(String(message)) as { t: string; name?: string; id?: string }
      if (frame.t !== 'command' || frame.name !== 'preset.select') return server.send(message)
      const error = { code: 'agent-preset/locked', message: 'Another tab has sent the first message.' }
      refuse = () => socket.send(JSON.stringify({ t: 'error', id: frame.id, error }))
    })
  })
  await blank(page, shop)
  await pick(page, 'minimal')
  await expect(chip(page)).toContainText('minimal')
  await expect(page.getByTestId('preset-delta')).toBeVisible()
  refuse()
  await expect(page.locator('.problem')).toContainText('agent-preset/locked')
  await expect(chip(page)).toContainText('standard')
  await expect(page.getByTestId('preset-delta')).toHaveCount(0)
})

test('another tab sees the switch, and its generation', async ({ page, shop, context }) => {
  const session = await blank(page, shop)
  const second = await context.newPage()
  await visit(second, shop.server, `s/${session}`)
  await expect(chip(second)).toContainText('standard')
  await pick(page, 'minimal')
  await expect(chip(second)).toContainText('minimal')
  await expect(chip(second).getByTestId('generation')).toHaveText(/^G\d+$/)
})

test('after the first turn the preset is locked, explains itself, and names its generation', async ({ page, shop }) => {
  await blank(page, shop, 'minimal')
  shop.script('lock', bash('echo hi'), { text: 'Said.' })
  await say(page, `${mark('lock')} go`)
  await expect(page.locator('.foot')).toBeVisible()
  await expect(page.getByTestId('foot-preset')).toHaveText(/^minimal G\d+$/)
  await expect(chip(page).getByTestId('generation')).toHaveText(/^G\d+$/)
  await chip(page).click()
  await expect(page.getByText(/Locked since the first turn/).first()).toBeVisible()
  await expect(page.getByText(/uses generation G\d+/)).toBeVisible()
  await expect(page.getByTestId('fork-into')).toBeVisible()
})

test('a session is renamed in its own head', async ({ page, shop }) => {
  await blank(page, shop)
  await page.locator('.head').getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  const field = page.getByTestId('title-field')
  await field.fill('A better name')
  await field.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('A better name')
})
