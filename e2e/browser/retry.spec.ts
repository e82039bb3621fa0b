import { layLine } from './proxy.ts'
import { begin, expect, mark, say, shared, visit } from './fixtures.ts'

const LIMITED = { behavior: 'rate_limit', headers: { 'retry-after': '9' } } as const

shared('a retry says why, counts down over a reload, and afterwards how long it waited', async ({ page, shop }) => {
  shop.script('wait', LIMITED, { text: 'At last.' })
  await begin(page, shop, 'wait')
  const row = page.getByTestId('retry')
  await expect(row).toContainText('the provider asks to slow down')
  await expect(row).toContainText('RATE_LIMIT')
  await expect(row).toContainText('attempt 2')
  await expect(row).toContainText(/again in \d s/)
  const before = Number(/in (\d) s/.exec(await row.innerText())?.[1])
  await page.reload()
  await expect(row).toContainText(/again in \d s/)
  expect(Number(/in (\d) s/.exec(await row.innerText())?.[1])).toBeLessThanOrEqual(before)
  await expect(page.getByTestId('transcript')).toContainText('At last.')
  await expect(row).toHaveAttribute('data-stand', 'done')
  await expect(row).toContainText(/waited (9|1\d)(\.\d)? s/)
  await expect(row.getByRole('button')).toHaveCount(0)
})

shared('a browser whose clock is ten minutes fast or slow counts the same seconds', async ({ page, shop, context }) => {
  shop.script('skew', LIMITED, { text: 'At last.' })
  const fast = 'const real = Date.now.bind(Date); Date.now = () => real() + 600000'
  await page.addInitScript(fast)
  await begin(page, shop, 'skew')
  const counting = /again in (9|8|7|6|5|4|3|2|10) s/
  await expect(page.getByTestId('retry')).toContainText(counting)
  const slow = await context.newPage()
  await slow.addInitScript(fast.replace('+', '-'))
  await slow.goto(page.url())
  await expect(slow.getByTestId('retry')).toContainText(counting)
  await expect(page.getByTestId('transcript')).toContainText('At last.')
})

shared('Stop is the way out of a wait', async ({ page, shop }) => {
  shop.script('out', { behavior: 'rate_limit', headers: { 'retry-after': '9' } })
  await begin(page, shop, 'out')
  const row = page.getByTestId('retry')
  await row.getByRole('button', { name: 'Stop' }).click()
  await expect(page.locator('.foot')).toContainText('stopped by you')
  await expect(row).toHaveAttribute('data-stand', 'stopped')
  await expect(row).toContainText('not tried again')
})

shared('B59 nothing is counted while the server cannot be heard', async ({ page, shop }) => {
  const line = await layLine(Number(new URL(shop.server.base).port))
  shop.script('dead', LIMITED, { text: 'At last.' })
  await visit(page, shop.server, 'new', line.port)
  await say(page, `${mark('dead')} go`)
  const row = page.getByTestId('retry')
  await expect(row).toContainText(/again in/)
  line.cut()
  await expect(row).toHaveAttribute('data-stand', 'lost')
  await expect(row).toContainText('not counting, connection lost')
  await expect(row).not.toContainText(/again in/)
  await line.mend()
  await expect(page.getByTestId('transcript')).toContainText('At last.')
  await expect(row).toHaveAttribute('data-stand', 'done')
  line.cut()
})

shared('a failed turn says in plain words what happened, what is kept, and where to go', async ({ page, shop }) => {
  shop.script('auth', { behavior: 'auth_error' }, { text: 'Well again.' })
  await begin(page, shop, 'auth')
  const card = page.getByTestId('turn-error')
  await expect(card).toContainText('Mock provider refused the key.')
  await expect(card).toContainText('Nothing was lost')
  await expect(card).toContainText('AUTH, 401')
  await card.getByRole('button', { name: 'Pick another model' }).click()
  await expect(page.getByRole('combobox')).toBeFocused()
  await page.keyboard.press('Escape')
  await card.getByTestId('try-again').click()
  await expect(page.getByTestId('transcript')).toContainText('Well again.')
  await expect(card.getByTestId('try-again')).toHaveCount(0)
  await card.getByRole('button', { name: 'Set the key' }).click()
  await expect(page).toHaveURL(/settings\/models\?provider=mock/)
})

shared('a server that is not there is told from one that answers badly', async ({ page, shop }) => {
  const client = await shop.server.connect()
  const options = { retry: { mode: 'off' as const }, discover: false, models: ['off-model'] }
  const line = await layLine(1)
  line.cut()
  const baseURL = `http://127.0.0.1:${line.port}/v1`
  const base = { label: 'Switched off', wire: 'chat', baseURL, key: 'none' } as const
  await client.command('provider.save', { id: 'off', ...base, options })
  const { workspace } = await client.command('workspace.add', { path: shop.work, confirmed: true })
  const selection = { provider: 'off', model: 'off-model', alsoDefault: false }
  const { session } = await client.command('session.create', { workspace: workspace.id, selection, prompt: 'go' })
  await visit(page, shop.server, `s/${session}`)
  const card = page.getByTestId('turn-error')
  await expect(card).toContainText('Nothing listens at the address of Switched off.')
  await card.getByRole('button', { name: 'Settings of Switched off' }).click()
  await expect(page).toHaveURL(/settings\/models\?provider=off/)
  await client.command('provider.remove', { provider: 'off' })
  await client.close()
})
