import { AxeBuilder } from '@axe-core/playwright'
import { begin, expect, say, shared } from './fixtures.ts'
import type { Shop } from './fixtures.ts'

const USAGE = { input: 10_000, cacheRead: 40_000, output: 1_000, reasoning: 300 }
/** Of one answer with `USAGE`: 0.01 + 0.004 + 0.004. */
const PRICE = { in: 1, cacheRead: 0.1, out: 4 }

/** The model of the shop gets a price and a window, as a person would set them. */
async function priced(shop: Shop): Promise<void> {
  const client = await shop.server.connect()
  const facts = { price: PRICE, contextWindow: 200_000 }
  await client.command('model.facts', { provider: 'mock', model: 'mock-model', facts })
  await client.close()
}

shared(
  'a turn ends with its tokens and what they cost; the head has the sum, the context, and whose count it is',
  async ({ page, shop }) => {
    await priced(shop)
    shop.script('cost', { text: 'One.', reasoning: 'Hm.', usage: USAGE }, { text: 'Two.', usage: USAGE })
    await begin(page, shop, 'cost')
    await expect(page.getByTestId('foot-tokens')).toHaveText('50k in, 1k out, 40k cached, 300 thinking')
    await expect(page.getByTestId('foot-cost')).toHaveText('≈ $0.018')
    const gauge = page.getByTestId('gauge')
    await expect(gauge).toHaveAttribute('data-basis', 'reported')
    await expect(gauge).toContainText('/ 200k')
    await expect(gauge).not.toContainText('≈ 50')
    await expect(page.getByTestId('session-cost')).toHaveText('≈ $0.018')
    await say(page, 'two')
    await expect(page.getByTestId('session-cost')).toHaveText('≈ $0.036')
    await gauge.click()
    await expect(page.getByTestId('context-parts')).toContainText('Counted by the provider with the last answer.')
    await expect(page.locator('.cost-rows tbody tr')).toHaveText(
      /mock-model Mock provider\s*2\s*100k\s*2k\s*≈ \$0\.036/,
    )
    const { violations } = await new AxeBuilder({ page }).include('.pop').analyze()
    expect(violations.map(({ id }) => id)).toEqual([])
  },
)

shared('a model without a price costs no number; an empty session shows nothing at all', async ({ page, shop }) => {
  const client = await shop.server.connect()
  await client.command('model.facts', { provider: 'mock', model: 'mock-model', facts: null })
  shop.script('free', { text: 'One.', usage: USAGE })
  await begin(page, shop, 'free')
  await expect(page.getByTestId('foot-cost')).toHaveText('no price')
  await expect(page.getByTestId('session-cost')).toHaveText('no price')
  const { workspace } = await client.command('workspace.add', { path: shop.work, confirmed: true })
  const { session } = await client.command('session.create', { workspace: workspace.id })
  await page.goto(`${shop.server.base}s/${session}`)
  await expect(page.getByTestId('composer')).toBeVisible()
  await expect(page.getByTestId('gauge')).toHaveCount(0)
  await client.close()
})

shared(
  'a session stops at its budget, says so, and goes on with the parked message once it is raised',
  async ({ page, shop }) => {
    await priced(shop)
    shop.script('stop', { text: 'One.', usage: USAGE }, { text: 'Two.', usage: USAGE })
    await begin(page, shop, 'stop')
    await expect(page.getByTestId('foot-cost')).toHaveText('≈ $0.018')
    const gauge = page.getByTestId('gauge')
    await gauge.click()
    const limit = page.getByTestId('limit')
    await expect(limit).toContainText('no limit')
    await limit.getByRole('textbox').fill('nothing')
    await limit.getByRole('textbox').press('Enter')
    await expect(limit.getByRole('button', { name: 'Set' })).toHaveAttribute('aria-disabled', 'true')
    await expect(limit).toContainText('no limit')
    await limit.getByRole('textbox').fill('0.01')
    await limit.getByRole('textbox').press('Enter')
    await expect(limit).toContainText('$0.01, set here')
    await page.keyboard.press('Escape')

    await say(page, 'one too many')
    const card = page.getByTestId('turn-error')
    await expect(card).toContainText('The budget is used up, so nothing more was sent.')
    await expect(card).toContainText('BUDGET_EXCEEDED')
    await expect(card).toContainText('your message waits')
    await expect(card.getByRole('textbox')).toHaveValue('0.036')
    await page.reload()
    await card.getByRole('textbox').fill('1')
    await card.getByRole('button', { name: 'Raise and try again' }).click()
    await expect(page.getByTestId('transcript')).toContainText('Two.')
    const asked = shop.mock.requests.filter(({ raw }) => raw.includes('one too many'))
    expect(asked).toHaveLength(1)

    await gauge.click()
    await expect(limit).toContainText('$1.00, set here')
    await limit.getByRole('button', { name: 'Give back to the settings' }).click()
    await expect(limit).toContainText('no limit')
  },
)

shared('the budget of the day stops every session, and leads to where it is set', async ({ page, shop }) => {
  await priced(shop)
  const client = await shop.server.connect()
  shop.script('day', { text: 'One.', usage: USAGE })
  await begin(page, shop, 'day')
  await expect(page.getByTestId('foot-cost')).toHaveText('≈ $0.018')
  await client.command('budget.save', { day: 0.001 })
  await say(page, 'one too many')
  const card = page.getByTestId('turn-error')
  await expect(card).toContainText('All sessions together')
  await card.getByRole('button', { name: 'Budget of the day' }).click()
  await expect(page).toHaveURL(/settings\/sessions/)
  await client.command('budget.save', { day: null })
  await client.close()
})
