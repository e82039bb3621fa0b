import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import type { RouteOptions } from '../../server/wire/models.ts'
import {
  addFolder,
  begin,
  expect,
  FAST_DEMO,
  keepNotices,
  mark,
  playDemo,
  say,
  shared,
  test,
  visit,
} from './fixtures.ts'
import type { Shop } from './fixtures.ts'

/** A provider on the mock server. */
async function addRoute(shop: Shop, id: string, options: RouteOptions, key: 'none' | 'stored' = 'none') {
  const client = await shop.server.connect()
  const label = `Provider ${id}`
  await client.command('provider.save', { id, label, wire: 'chat', baseURL: `${shop.mock.url}/v1`, key, options })
  return client
}

async function openPicker(page: Page): Promise<void> {
  await page.getByTestId('model-chip').click()
  await expect(page.getByRole('combobox')).toBeVisible()
}

async function pick(page: Page, name: string): Promise<void> {
  await openPicker(page)
  await page.getByRole('combobox').fill(name)
  await page.getByRole('option', { name }).first().click()
}

shared(
  'B14 B20 the chip says without a pointer which source is in effect: default, last request, picked',
  async ({ page, shop }) => {
    shop.script('sources', { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' })
    await keepNotices(page)
    await visit(page, shop.server, 'new')
    const chip = page.getByTestId('model-chip')
    await expect(chip).toContainText('mock-model')
    await expect(chip).toContainText('default')
    await begin(page, shop, 'sources')
    await expect(page.getByTestId('transcript')).toContainText('One.')
    await expect(chip).toContainText('last used')

    const client = await addRoute(shop, 'second', { models: ['other-model'] })
    await openPicker(page)
    await page.getByRole('option', { name: /other-model/ }).click()
    await expect(page.getByRole('status').filter({ hasText: 'Saved' })).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.locator('.pop')).toHaveCount(0)
    await expect(chip).toContainText('picked')
    await expect(chip).toContainText('other-model')

    await page.reload()
    await expect(chip).toHaveAttribute('data-source', 'picked')
    await say(page, 'two')
    await expect(page.getByTestId('transcript')).toContainText('Two.')
    await expect(chip).toHaveAttribute('data-source', 'last')
    await expect(chip).toContainText('other-model')
    await say(page, 'three')
    await expect(page.getByTestId('transcript')).toContainText('Three.')
    expect(shop.mock.requests.slice(-2).map(({ model }) => model)).toEqual(['other-model', 'other-model'])

    // The pick became the default, visibly.
    await page.getByTestId('new-session').click()
    await expect(chip).toContainText('other-model')
    await expect(chip).toHaveAttribute('data-source', 'default')
    await client.command('model.default', { provider: 'mock', model: 'mock-model' })
    await expect(chip).toContainText('mock-model')

    // L-15: a provider that goes away leaves its name, with the fix beside it.
    await client.command('provider.remove', { provider: 'second' })
    await page.goBack()
    await expect(chip).toContainText('other-model is gone')
    await openPicker(page)
    await expect(page.locator('.absent').first()).toContainText('second/other-model')
    await expect(page.locator('.absent').first()).toContainText('was removed')
    await page.getByRole('button', { name: 'Add provider', exact: true }).click()
    await expect(page).toHaveURL(/settings\/models/)
    await client.close()
  },
)

shared(
  'a model whose provider fails or lost its key keeps its name, with the reason and the fix',
  async ({ page, shop }) => {
    shop.script('keyless', { text: 'Keyed.' })
    const client = await addRoute(shop, 'keyed', { models: ['keyed-model'] }, 'stored')
    await client.command('credential.set', { provider: 'keyed', key: 'a-key-of-a-test' })
    await visit(page, shop.server, 'new')
    await pick(page, 'keyed-model')
    await page.keyboard.press('Escape')
    await say(page, `${mark('keyless')} go`)
    await expect(page.getByTestId('transcript')).toContainText('Keyed.')
    await client.command('model.default', { provider: 'mock', model: 'mock-model' })
    const chip = page.getByTestId('model-chip')
    await expect(chip).toContainText('last used')
    await client.command('credential.remove', { provider: 'keyed' })
    await expect(chip).toContainText('keyed-model has no key')
    await openPicker(page)
    await expect(page.locator('.absent').first()).toContainText('keyed/keyed-model')
    await page.getByRole('button', { name: 'Add key', exact: true }).click()
    await expect(page).toHaveURL(/settings\/models\?provider=keyed/)
    await client.command('provider.remove', { provider: 'keyed' })
    await client.close()
  },
)

shared('an effort that is unset looks like no other, and what the provider decides is said', async ({ page, shop }) => {
  const efforts = [
    { id: 'low', body: { reasoning_effort: 'low' } },
    { id: 'high', body: { reasoning_effort: 'high' }, default: true },
  ]
  shop.script('effort', { text: 'One.' }, { text: 'Two.' })
  const client = await addRoute(shop, 'thinker', { discover: false, efforts })
  await begin(page, shop, 'effort')
  await expect(page.getByTestId('transcript')).toContainText('One.')
  await pick(page, 'thinker/thinking-model')
  const words = page.getByTestId('effort-words')
  await expect(words).toHaveText('The provider decides; today that is high.')
  await expect(page.getByRole('radio', { name: 'unset' })).toHaveAttribute('aria-checked', 'true')
  const chip = page.getByTestId('model-chip')
  await expect(chip.locator('.unset')).toHaveText('effort unset')
  await expect(chip.locator('.unset')).toHaveCSS('border-bottom-style', 'dashed')
  await page.getByRole('radio', { name: 'high' }).click()
  await expect(words).toHaveText('Sent with every request.')
  await expect(chip).toContainText('high')
  await expect(chip.locator('.unset')).toHaveCount(0)
  await expect(page.getByTestId('model-mark')).toHaveText(/effort high, for the next request/)
  await page.getByRole('radio', { name: 'unset' }).click()
  await expect(chip.locator('.unset')).toBeVisible()
  await page.keyboard.press('Escape')
  await say(page, 'go on')
  await expect(page.getByTestId('transcript')).toContainText('Two.')
  // L-11: what was filled in on the way is not picked by that.
  await expect(chip.locator('.unset')).toBeVisible()
  expect(JSON.parse(shop.mock.requests.at(-1)!.raw)).toHaveProperty('reasoning_effort', 'high')
  await client.command('model.default', { provider: 'mock', model: 'mock-model' })
  await client.command('provider.remove', { provider: 'thinker' })
  await client.close()
})

shared(
  '“also default” is on again with every opening, can be turned off for one pick, and says what it did',
  async ({ page, shop }) => {
    shop.script('also', { text: 'One.' })
    const client = await addRoute(shop, 'third', { models: ['third-a', 'third-b'] })
    await begin(page, shop, 'also')
    await expect(page.getByTestId('transcript')).toContainText('One.')
    await openPicker(page)
    const also = page.getByRole('switch')
    await expect(also).toHaveAttribute('aria-checked', 'true')
    await also.click()
    await page.getByRole('option', { name: /third-a/ }).click()
    await expect(page.getByRole('status').filter({ hasText: 'This session only' })).toBeVisible()
    await page.keyboard.press('Escape')
    await page.getByTestId('new-session').click()
    await expect(page.getByTestId('model-chip')).toContainText('mock-model')
    await page.goBack()
    await openPicker(page)
    await expect(also).toHaveAttribute('aria-checked', 'true')
    await page.getByRole('option', { name: /third-b/ }).click()
    await expect(page.getByRole('status').filter({ hasText: 'Saved' })).toBeVisible()
    await page.keyboard.press('Escape')
    await page.getByTestId('new-session').click()
    await expect(page.getByTestId('model-chip')).toContainText('third-b')
    await client.command('model.default', { provider: 'mock', model: 'mock-model' })
    await client.command('provider.remove', { provider: 'third' })
    await client.close()
  },
)

shared(
  'words are found in any order, recent picks come first, an id that no list has can be used',
  async ({ page, shop }) => {
    shop.script('unlisted', { text: 'One.' }, { text: 'Two.' })
    const client = await addRoute(shop, 'wide', { models: ['qwen3-coder', 'deepseek-v4-pro', 'deepseek-v4-flash'] })
    await begin(page, shop, 'unlisted')
    await expect(page.getByTestId('transcript')).toContainText('One.')
    await openPicker(page)
    const find = page.getByRole('combobox')
    await find.fill('flash wide deep')
    await expect(page.getByRole('option').first()).toContainText('deepseek-v4-flash')
    await page.keyboard.press('Enter')
    await expect(page.getByTestId('model-chip')).toContainText('deepseek-v4-flash')
    await find.fill('')
    await expect(page.locator('.opt-head').first()).toHaveText('Recent')
    await expect(page.getByRole('option').first()).toContainText('deepseek-v4-flash')
    await expect(page.getByRole('option', { name: /deepseek-v4-flash/ })).toHaveCount(1)

    await find.fill('brand-new')
    await page.keyboard.press('Enter')
    await expect(page.getByTestId('model-chip')).toContainText('deepseek-v4-flash')
    await find.fill('wide/brand-new')
    await expect(page.getByRole('option').first()).toContainText('text only, capacity unknown')
    await page.keyboard.press('Enter')
    await expect(page.getByTestId('model-chip')).toContainText('brand-new')
    await expect(page.locator('.absent').first()).toContainText('Not in the list of Provider wide')
    await page.keyboard.press('Escape')
    await say(page, 'two')
    await expect(page.getByTestId('transcript')).toContainText('Two.')
    expect(shop.mock.requests.at(-1)!.model).toBe('brand-new')
    await client.command('model.default', { provider: 'mock', model: 'mock-model' })
    await client.command('provider.remove', { provider: 'wide' })
    await client.close()
  },
)

shared(
  'the model list is worked with the keyboard alone, over six hundred of them, and Escape closes it',
  async ({ page, shop }) => {
    const models = Array.from({ length: 500 }, (_, n) => `many-${n}`)
    const client = await addRoute(shop, 'many', { discover: false, models })
    const more = await addRoute(shop, 'zmore', { discover: false, models: models.slice(0, 100).map((id) => `z${id}`) })
    await visit(page, shop.server, 'new')
    await page.getByTestId('model-chip').focus()
    await page.keyboard.press('Enter')
    const find = page.getByRole('combobox')
    await expect(find).toBeFocused()
    const at = page.locator('.opt.at')
    await page.keyboard.press('End')
    await expect(at).toBeInViewport()
    const last = await at.getAttribute('aria-posinset')
    expect(last).toBe(await at.getAttribute('aria-setsize'))
    expect(Number(last)).toBeGreaterThan(600)
    expect(await page.getByRole('option').count()).toBeLessThan(60)
    await page.keyboard.press('ArrowUp')
    await expect(at).toHaveAttribute('aria-posinset', String(Number(last) - 1))
    await page.keyboard.press('Home')
    await expect(at).toHaveAttribute('aria-posinset', '1')
    await page.keyboard.press('PageDown')
    await expect(at).toHaveAttribute('aria-posinset', '9')
    // A letter typed elsewhere in the popover goes on searching.
    await page.getByRole('switch').focus()
    await page.keyboard.type('zmany-99')
    await expect(find).toHaveValue('zmany-99')
    await expect(at).toContainText('zmany-99')
    await page.keyboard.press('Enter')
    await expect(page.getByTestId('model-chip')).toContainText('zmany-99')
    await page.keyboard.press('Escape')
    await expect(find).toHaveCount(0)
    await client.command('provider.remove', { provider: 'many' })
    await client.command('provider.remove', { provider: 'zmore' })
    await more.close()
    await client.close()
  },
)

shared('a change of the model is one quiet line, from the pick to the request that used it', async ({ page, shop }) => {
  shop.script('mark', { text: 'One.' }, { text: 'Two.' })
  const client = await addRoute(shop, 'fourth', { models: ['fourth-a', 'fourth-b'] })
  await begin(page, shop, 'mark')
  await expect(page.getByTestId('transcript')).toContainText('One.')
  const line = page.getByTestId('model-mark')
  await pick(page, 'fourth-a')
  await expect(line).toContainText('mock/mock-model → fourth/fourth-a, for the next request')
  await page.getByRole('combobox').fill('fourth-b')
  await page.getByRole('option', { name: 'fourth-b' }).first().click()
  await expect(line).toContainText('mock/mock-model → fourth/fourth-b, for the next request')
  await expect(line).toHaveCount(1)
  await page.getByRole('combobox').fill('mock-model')
  await page.getByRole('option', { name: 'mock-model' }).first().click()
  await expect(line).toHaveCount(0)
  await page.getByRole('combobox').fill('fourth-a')
  await page.getByRole('option', { name: 'fourth-a' }).first().click()
  await page.keyboard.press('Escape')
  await say(page, 'two')
  await expect(page.getByTestId('transcript')).toContainText('Two.')
  await expect(line).toHaveAttribute('data-used', 'true')
  await expect(line).toHaveCount(1)
  await expect(line).not.toContainText('for the next request')
  await expect(page.getByTestId('transcript')).not.toContainText('The model of this session changed')
  await page.reload()
  await expect(line).toContainText('mock/mock-model → fourth/fourth-a')
  await client.command('model.default', { provider: 'mock', model: 'mock-model' })
  await client.command('provider.remove', { provider: 'fourth' })
  await client.close()
})

shared('B11 going from session to session sends no command and changes no choice', async ({ page, shop }) => {
  shop.script('hop', { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' })
  const client = await shop.server.connect()
  const { workspace } = await client.command('workspace.add', { path: shop.work, confirmed: true })
  const ids: string[] = []
  for (const n of [1, 2, 3]) {
    const { session } = await client.command('session.create', {
      workspace: workspace.id,
      prompt: `${mark('hop')} ${n}`,
    })
    ids.push(session)
  }
  const sent: string[] = []
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))))
  await visit(page, shop.server, `s/${ids[0]}`)
  for (const id of [...ids, ...ids]) {
    await page.locator(`.sess a[href$="${id}"]`).click()
    await expect(page.locator('.foot')).toBeVisible()
    await expect(page.getByTestId('model-chip')).toHaveAttribute('data-source', 'last')
  }
  await page.getByTestId('new-session').click()
  await expect(page.getByTestId('model-chip')).toHaveAttribute('data-source', 'default')
  await page.goBack()
  await expect(page.locator('.foot')).toBeVisible()
  expect(sent.length).toBeGreaterThan(3)
  expect(sent.filter((frame) => frame.includes('"command"'))).toEqual([])
  await client.close()
})

for (const scheme of ['light', 'dark'] as const)
  shared(`the open picker has no accessibility violations (${scheme})`, async ({ page, shop }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await visit(page, shop.server, 'new')
    await openPicker(page)
    await page.getByRole('combobox').fill('gpt')
    await expect(page.locator('.absent').first()).toBeVisible()
    const { violations } = await new AxeBuilder({ page }).include('.pop').analyze()
    expect(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([])
  })

test('without any key the chip asks for a model, and the demo is offered first', async ({ page, world }) => {
  await page.goto(world.server.url)
  await addFolder(page, world)
  const chip = page.getByTestId('model-chip')
  await expect(chip).toContainText('Choose a model')
  await openPicker(page)
  await expect(page.getByRole('option').first()).toContainText('scripted')
  await expect(page.locator('.absent').last()).toContainText(/providers? ha(s|ve) no key/)
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
      options: { discover: false, models: ['own-model'] },
    })
    await openPicker(page)
    await page.getByRole('option', { name: /own-model/ }).click()
    await expect(page.getByRole('status').filter({ hasText: 'This session only' })).toContainText('could not save')
    await expect(page.getByTestId('model-chip')).toContainText('own-model')
    await client.close()
  })
})
