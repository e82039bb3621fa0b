import { expect, mark, say, shared, visit } from './fixtures.ts'

shared(
  'a title that a model wrote takes the place of the rule’s where it stands; a person’s own stays',
  async ({ page, shop }) => {
    const client = await shop.server.connect()
    await client.command('provider.save', {
      id: 'namer',
      label: 'Namer',
      wire: 'chat',
      baseURL: `${shop.mock.url}/v1`,
      key: 'none',
      options: { discover: false, models: ['small-model'] },
    })
    await client.command('titles.save', { selection: { provider: 'namer', model: 'small-model' } })
    // The prompt of the title call holds the lane's mark, too: whoever asks first gets the first reply, whatever it is for.
    const both = { text: 'Cents that went missing', gates: ['titled'] }
    shop.script('titled', both, both)
    await visit(page, shop.server, 'new')
    await say(page, `${mark('titled')} go`)
    const head = page.getByRole('heading', { level: 1 })
    await expect(head).toContainText(mark('titled'))
    const place = await head.boundingBox()
    shop.mock.release('titled')
    await expect(head).toHaveText('Cents that went missing')
    const after = await head.boundingBox()
    expect([after?.x, after?.y, after?.height]).toEqual([place?.x, place?.y, place?.height])
    await expect(page.locator('.sess').filter({ hasText: 'Cents that went missing' })).toBeVisible()

    await page.getByRole('button', { name: 'More' }).last().click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByTestId('title-field').fill('My own words')
    await page.getByTestId('title-field').press('Enter')
    await expect(head).toHaveText('My own words')
    await page.reload()
    await expect(head).toHaveText('My own words')
    await client.command('titles.save', { selection: null })
    await client.close()
  },
)

shared(
  'a title model that fails leaves the rule’s title, and nothing about it in the transcript',
  async ({ page, shop }) => {
    const client = await shop.server.connect()
    await client.command('provider.save', {
      id: 'mute',
      label: 'Mute',
      wire: 'chat',
      baseURL: 'http://127.0.0.1:9/v1',
      key: 'none',
      options: { discover: false, models: ['small-model'], retry: { mode: 'off' } },
    })
    await client.command('titles.save', { selection: { provider: 'mute', model: 'small-model' } })
    shop.script('untitled', { text: 'One.' })
    await visit(page, shop.server, 'new')
    await say(page, `${mark('untitled')} go`)
    await expect(page.locator('.foot')).toBeVisible()
    await expect(page.getByRole('heading', { level: 1 })).toContainText(mark('untitled'))
    await expect(page.getByTestId('turn-error')).toHaveCount(0)
    await expect(page.getByTestId('retry')).toHaveCount(0)
    await client.command('titles.save', { selection: null })
    await client.close()
  },
)
