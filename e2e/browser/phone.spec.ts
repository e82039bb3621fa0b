import { bash, expect, mark, shared as test, visit } from './fixtures.ts'
import type { Page } from '@playwright/test'

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

test('on a phone: sessions in a sheet, a new session, a message, a model from a sheet; nothing sticks out', async ({
  page,
  shop,
}) => {
  shop.script(
    'phone',
    { ...bash('seq 1 40; echo a-very-long-word-$(seq -s- 1 200); exit 2'), text: 'I try.' },
    {
      text: 'Answered on a small screen.',
    },
  )
  await visit(page, shop.server, 'settings/about')
  await expect(page.getByRole('heading').first()).toBeVisible()
  expect(await overflow(page)).toBe(0)
  await page.getByRole('button', { name: 'Sessions', exact: true }).tap()
  const sheet = page.getByRole('dialog')
  await expect(sheet).toBeVisible()
  await sheet.getByTestId('new-session').tap()
  await expect(sheet).toHaveCount(0)
  await expect(page.getByTestId('preset-card').first()).toBeVisible()
  expect(await overflow(page)).toBe(0)
  await page.getByTestId('composer').fill(`${mark('phone')} from a phone`)
  await page.getByTestId('send').tap()
  await expect(page.getByTestId('transcript')).toContainText('Answered on a small screen.')
  expect(await overflow(page)).toBe(0)

  await page.getByTestId('model-chip').tap()
  await expect(page.getByRole('dialog', { name: 'Model' })).toBeVisible()
  await page
    .getByRole('option', { name: /mock-model/ })
    .first()
    .tap()
  expect(await overflow(page)).toBe(0)
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).tap()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('button', { name: 'Sessions', exact: true }).tap()
  await expect(
    page
      .getByRole('dialog')
      .getByTestId('rail-session')
      .filter({ hasText: mark('phone') }),
  ).toBeVisible()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).tap()
  const small = await page.getByTestId('send').boundingBox()
  expect(small!.width).toBeGreaterThanOrEqual(32)
})
