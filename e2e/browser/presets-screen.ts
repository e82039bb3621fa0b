import type { Shop } from './fixtures.ts'
import { AxeBuilder } from '@axe-core/playwright'
import { expect } from '@playwright/test'
import type { Locator, Page } from '@playwright/test'

/** A small preset whose prompt is one sentence. */
export const documentOf = (id: string, prefix: string, more = ''): string => `# ${id}
- id: ${id}
  name: agent-preset
  config:
    id: ${id}
    plugins:
      - id: persona
        name: persona
        config:
          prefix: ${prefix}
      - id: bash
        name: tool-bash
${more}`

export const line = (page: Page, id: string): Locator =>
  page
    .locator('.plist [data-testid=preset-line]')
    .filter({ has: page.locator('.b', { hasText: new RegExp(`^${id}$`) }) })

export const editor = (page: Page): Locator => page.getByTestId('preset-text')

/** Puts a whole text in the place of the one in the editor. */
export async function write(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('ControlOrMeta+a')
  // As a paste does it: typing would be indented and closed by the editor.
  await page.keyboard.insertText(text)
}

export async function activate(page: Page): Promise<void> {
  const button = page.getByTestId('activate')
  await expect(button).not.toHaveAttribute('aria-disabled')
  await button.click()
}

export async function menu(page: Page, entry: string): Promise<void> {
  await page.getByTestId('preset-more').click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}

/** What the accessibility audit finds. */
export async function audit(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa']).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

/** An own document, put there as another client would. */
export async function put(shop: Shop, id: string, prefix: string): Promise<void> {
  const client = await shop.server.connect()
  await client.command('preset.import', { text: documentOf(id, prefix) })
  await client.close()
}
