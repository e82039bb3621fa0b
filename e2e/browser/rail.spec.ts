import { begin, bash, expect, mark, shared as test, visit } from './fixtures.ts'
import type { Page } from '@playwright/test'

const line = (page: Page, text: string) => page.getByTestId('rail-session').filter({ hasText: text })

async function menu(page: Page, text: string, entry: string): Promise<void> {
  await line(page, text).hover()
  await line(page, text).getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}

test('a session is renamed, pinned, archived and taken back; a reload keeps it', async ({ page, shop }) => {
  shop.script('names', { text: 'Fine.' })
  await begin(page, shop, 'names')
  await expect(page.getByTestId('transcript')).toContainText('Fine.')
  await menu(page, mark('names'), 'Rename')
  const box = page.getByRole('textbox', { name: 'Rename' })
  await expect(box).toBeFocused()
  await box.fill('A better name')
  await box.press('Enter')
  await expect(line(page, 'A better name')).toHaveCount(1)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('A better name')

  await line(page, 'A better name').hover()
  await line(page, 'A better name').getByRole('button', { name: 'Pin' }).click()
  // Under the pointer, or with the focus in it, the line shows its actions instead.
  await page.getByTestId('composer').click()
  await expect(line(page, 'A better name').getByLabel('pinned')).toBeVisible()
  await page.reload()
  await expect(line(page, 'A better name').getByLabel('pinned')).toBeVisible()

  await menu(page, 'A better name', 'Archive')
  await expect(line(page, 'A better name')).toHaveCount(0)
  await page.reload()
  await page.getByRole('button', { name: '1 archived session' }).click()
  await menu(page, 'A better name', 'Back from the archive')
  await page.getByRole('button', { name: 'Back to all sessions' }).click()
  await expect(line(page, 'A better name')).toHaveCount(1)
})

test('search finds titles, said words, tools and files', async ({ page, shop }) => {
  shop.script('find', bash('echo zanzibar > harbour.txt'), { text: 'The quartz is heavy.' })
  await begin(page, shop, 'find')
  await expect(page.getByTestId('transcript')).toContainText('The quartz is heavy.')
  // What is found is what the log holds, and the log has the whole turn when the turn is over.
  await expect(page.locator('.foot')).toBeVisible()
  const search = page.getByRole('searchbox')
  for (const word of ['quartz', 'harbour']) {
    // The index follows the log; a word asked for too early is asked for again.
    await expect(async () => {
      await search.fill('')
      await search.fill(word)
      await expect(page.locator('.hits section a').first()).toContainText(word, { timeout: 2000 })
    }).toPass()
  }
  const address = page.url()
  await page.getByTestId('new-session').click()
  await page.locator('.hits section a').first().click()
  await expect(page).toHaveURL(address)
  await search.fill('no such thing at all')
  await expect(page.getByRole('region', { name: 'Search results' })).toContainText('Nothing matches')
  await search.press('Escape')
  await expect(line(page, mark('find'))).toHaveCount(1)
})

test('the rail works with the keyboard: down, up, Enter', async ({ page, shop }) => {
  shop.script('keys', { text: 'Fine.' })
  await begin(page, shop, 'keys')
  await expect(page.getByTestId('transcript')).toContainText('Fine.')
  await page.getByTestId('new-session').click()
  await page.getByRole('searchbox').focus()
  await page.keyboard.press('ArrowDown')
  await expect(page.locator('.rail .ws-head button').first()).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await expect(page.getByTestId('rail-session').first().getByRole('link')).toBeFocused()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/s\//)
})

test('the palette opens from anywhere, finds a session, and Escape closes it', async ({ page, shop }) => {
  shop.script('palette-find', { text: 'Fine.' })
  await begin(page, shop, 'palette-find')
  await expect(page.getByTestId('transcript')).toContainText('Fine.')
  const address = page.url()
  await page.getByTestId('new-session').click()
  await page.keyboard.press('Control+k')
  const box = page.getByRole('combobox')
  await box.fill('lane:palette-find')
  await expect(page.getByRole('option')).toHaveCount(1)
  await box.press('Enter')
  await expect(page).toHaveURL(address)
  await page.keyboard.press('Control+k')
  await expect(box).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(box).toHaveCount(0)
})

test('a session that is not there says so and offers a way on', async ({ page, shop }) => {
  await visit(page, shop.server, 's/01ARZ3NDEKTSV4RRFFQ69G5FAV')
  await expect(page.locator('.empty')).toContainText('session/not-found')
  await page.locator('.empty').getByRole('button', { name: 'New session' }).click()
  await expect(page.getByTestId('composer')).toBeFocused()
})

test('an address that leads nowhere says so and offers a way on', async ({ page, shop }) => {
  await visit(page, shop.server, 'no/such/place')
  await expect(page.locator('.empty')).toContainText('/no/such/place')
  await page.locator('.empty').getByRole('button', { name: 'New session' }).click()
  await expect(page.getByTestId('composer')).toBeVisible()
})
