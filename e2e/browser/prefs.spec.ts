import type { Page } from '@playwright/test'
import { en } from '../../web/src/i18n/en.ts'
import { zh } from '../../web/src/i18n/zh.ts'
import { bash, begin, expect, shared as test, visit } from './fixtures.ts'

const KEYS = Object.keys(en).filter((key) => key.includes('.'))
/** Names that stand on the page as what they are, whatever they are called elsewhere. */
const IDS = ['standard', 'minimal']
/** Texts that differ between the languages and are long enough not to be part of another word. */
const ENGLISH = (Object.keys(en) as (keyof typeof en)[])
  .filter((key) => en[key] !== zh[key] && !en[key].includes('{') && en[key].length > 5 && !IDS.includes(en[key]))
  .map((key) => en[key])

/** Runs in the page, which has types of its own. */
const SHOWN = `
  const named = ['aria-label', 'placeholder', 'title'].flatMap((name) =>
    [...document.querySelectorAll('[' + name + ']')].map((element) => element.getAttribute(name)))
  const texts = [...document.querySelectorAll('body *')].map((element) =>
    [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent).join(''));
  [...named, ...texts].map((text) => text.trim())
`

/** Names of keys and English texts that stand on the page. */
async function untranslated(page: Page): Promise<string[]> {
  const shown = await page.evaluate<string[]>(SHOWN)
  expect(shown.length).toBeGreaterThan(20)
  return shown.filter((text) => KEYS.includes(text) || ENGLISH.includes(text))
}

const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')

test('theme and language hold across a reload, and Chinese is complete on every screen', async ({ page, shop }) => {
  await visit(page, shop.server, 'settings/appearance')
  await page.getByRole('radio', { name: 'Dark' }).click()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  const dark = await background(page)
  await page.getByRole('radio', { name: '中文' }).click()
  await page.reload()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
  await expect.poll(() => background(page)).toBe(dark)
  await page.getByRole('radio', { name: zh['theme.light'] }).click()
  await expect.poll(() => background(page)).not.toBe(dark)

  for (const path of [
    'settings/appearance',
    'settings/models',
    'settings/about',
    'presets',
    'presets/minimal',
    'new',
  ]) {
    await page.goto(shop.server.base + path)
    await expect(page.getByRole('heading').first()).toBeVisible()
    await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
    expect(await untranslated(page), path).toEqual([])
  }
  await page.getByTestId('model-chip').click()
  expect(await untranslated(page), 'models').toEqual([])
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('option').first()).toBeVisible()
  expect(await untranslated(page), 'palette').toEqual([])
  await page.keyboard.press('Escape')

  shop.script('zh', { reasoning: 'hm', ...bash('exit 3') }, { text: '好了。' })
  await begin(page, shop, 'zh')
  await expect(page.getByTestId('transcript')).toContainText('好了。')
  await expect(page.locator('.foot')).toBeVisible()
  expect(await untranslated(page), 'session').toEqual([])
})

test('the theme follows the system until one is picked', async ({ page, shop }) => {
  await page.emulateMedia({ colorScheme: 'light' })
  await visit(page, shop.server, 'new')
  const light = await background(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(() => background(page)).not.toBe(light)
  await page.getByRole('button', { name: 'Switch between light and dark' }).click()
  await expect.poll(() => background(page)).toBe(light)
})
