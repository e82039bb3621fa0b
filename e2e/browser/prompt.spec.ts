import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { begin, expect, mark, say, shared as test, visit } from './fixtures.ts'
import type { Shop } from './fixtures.ts'

/** A session of one preset with one finished turn; its id. */
async function answered(page: Page, shop: Shop, lane: string, preset: 'minimal' | 'standard'): Promise<string> {
  shop.script(lane, { text: `Done ${lane}.` })
  await begin(page, shop, lane, preset)
  await expect(page.locator('.foot')).toBeVisible()
  return new URL(page.url()).pathname.split('/').at(-1)!
}

const systemSent = (shop: Shop, lane: string): string => {
  const { body } = shop.mock.requests.find((request) => request.lane === lane)!
  const [first] = body['messages'] as { role: string; content: string }[]
  return first!.content
}

test('the footer of a turn leads to the exact system text and tools of its request, labelled by owner', async ({
  page,
  shop,
}) => {
  const id = await answered(page, shop, 'why', 'minimal')
  await page.getByTestId('why').click()
  await expect(page).toHaveURL(new RegExp(`/s/${id}/prompt/1/1$`))
  await expect(page.getByTestId('prompt-view')).toBeVisible()
  const section = (name: string) => page.getByTestId('prompt-section').filter({ hasText: name }).first()
  await expect(section('persona')).toHaveAttribute('data-fate', 'shown')
  await expect(section('harness:identity')).toHaveAttribute('data-fate', 'discarded')
  await expect(page.getByTestId('prompt-view')).toContainText('is marked complete, so nothing else is sent')
  await expect(page.getByTestId('prompt-tool')).toHaveCount(2)
  await page.getByTestId('prompt-tool').first().getByRole('button').click()
  await expect(page.getByTestId('prompt-tool').first()).toContainText('"type": "object"')
  await page.getByRole('radio', { name: 'As sent' }).click()
  expect(await page.getByTestId('prompt-sent').textContent()).toBe(systemSent(shop, 'why'))
  await expect(page.getByTestId('prompt-digest')).toHaveText(/^[0-9a-f]{16,}$/)
  await page.reload()
  await expect(page.getByTestId('prompt-view')).toBeVisible()
  await expect(page).toHaveURL(new RegExp(`/s/${id}/prompt/1/1$`))
  await page.goBack()
  await expect(page.getByTestId('transcript')).toContainText('Done why.')
})

test('the steps of a session are listed and walked through; back retraces them', async ({ page, shop }) => {
  const id = await answered(page, shop, 'steps', 'minimal')
  shop.script('steps', { text: 'Once more.' })
  await say(page, `${mark('steps')} again`)
  await expect(page.locator('.foot')).toHaveCount(2)
  await page.getByTestId('tab-prompt').click()
  await expect(page).toHaveURL(new RegExp(`/s/${id}/prompt/2/1$`))
  await page.getByTestId('request-chip').click()
  await expect(page.getByTestId('request-option')).toHaveCount(2)
  await page.getByTestId('request-option').last().click()
  await expect(page).toHaveURL(new RegExp(`/s/${id}/prompt/1/1$`))
  await page.getByTestId('compare-chip').click()
  await page.getByTestId('request-option').first().click()
  await expect(page.getByTestId('prompt-difference')).toContainText('nothing differs')
  await page.goBack()
  await page.goBack()
  await expect(page).toHaveURL(new RegExp(`/s/${id}/prompt/2/1$`))
})

test('a request is compared with one of another session, found by its title', async ({ page, shop }) => {
  const other = await answered(page, shop, 'pair-standard', 'standard')
  await answered(page, shop, 'pair-minimal', 'minimal')
  await page.getByTestId('tab-prompt').click()
  await expect(page.getByTestId('prompt-view')).toBeVisible()
  await page.getByTestId('compare-chip').click()
  await page.getByTestId('other-session').click()
  await page.getByRole('textbox', { name: 'Find a session' }).fill('pair-standard')
  await page.getByTestId('session-option').first().click()
  await page.getByTestId('request-option').first().click()
  await expect(page).toHaveURL(new RegExp(`against=${other}\\.1\\.1$`))
  await expect(page.getByTestId('prompt-difference')).toContainText('+')
  await expect(page.getByTestId('prompt-diff').first()).toBeVisible()
  await expect(page.getByTestId('prompt-tool').filter({ hasText: 'new here' }).first()).toBeVisible()
  await page.reload()
  await expect(page.getByTestId('prompt-diff').first()).toBeVisible()
  await page.getByRole('button', { name: 'Stop comparing' }).click()
  await expect(page.getByTestId('prompt-diff')).toHaveCount(0)
})

test('a blank session shows what its preset gives, and says that nothing was sent', async ({ page, shop }) => {
  const client = await shop.server.connect()
  const workspace = (await client.command('workspace.add', { path: shop.work, confirmed: true })).workspace.id
  const { session } = await client.command('session.create', { workspace, preset: 'minimal' })
  await client.close()
  await visit(page, shop.server, `s/${session}/prompt`)
  await expect(page.getByTestId('prompt-dry')).toContainText('No request was sent yet.')
  await expect(page.getByTestId('prompt-tool')).toHaveCount(2)
})

test('a request that is not there leads to the newest; a failed answer can be asked for again', async ({
  page,
  shop,
}) => {
  const id = await answered(page, shop, 'missing', 'minimal')
  await visit(page, shop.server, `s/${id}/prompt/9/9`)
  await page.getByRole('button', { name: 'Show the newest' }).click()
  await expect(page.getByTestId('prompt-view')).toBeVisible()
  await page.route(/\/requests$/, (route) => route.fulfill({ status: 200, body: 'not json' }))
  await page.reload()
  await expect(page.getByRole('alert')).toBeVisible()
  await page.unroute(/\/requests$/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByTestId('prompt-view')).toBeVisible()
})

for (const scheme of ['light', 'dark'] as const)
  test(`the Prompt view and its comparison pass the accessibility audit in ${scheme}`, async ({ page, shop }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    const other = await answered(page, shop, `axe-standard-${scheme}`, 'standard')
    const id = await answered(page, shop, `axe-minimal-${scheme}`, 'minimal')
    await visit(page, shop.server, `s/${id}/prompt/1/1?against=${other}.1.1`)
    await expect(page.getByTestId('prompt-diff').first()).toBeVisible()
    const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa']).analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`)).toEqual([])
  })

test('on a phone the view is stacked: the labels stand above their text', async ({ page, shop }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await answered(page, shop, 'phone', 'minimal')
  await page.getByTestId('tab-prompt').click()
  await expect(page.getByTestId('prompt-block').first()).toContainText('persona')
  await expect(page.getByTestId('prompt-digest')).toBeAttached()
  const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  expect(wide).toBe(false)
})
