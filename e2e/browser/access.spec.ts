import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { FAST_DEMO, expect, playDemo, test } from './fixtures.ts'

test.use({ patches: [FAST_DEMO] })

const audit = async (page: Page) => {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa']).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}

for (const scheme of ['light', 'dark'] as const)
  test(`every screen passes the accessibility audit in ${scheme}`, async ({ page, world }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.goto(world.server.url)
    await expect(page.getByTestId('first-run')).toBeVisible()
    expect(await audit(page)).toEqual([])
    await playDemo(page, world)
    expect(await audit(page)).toEqual([])
    for (const path of ['presets', 'settings/models', 'settings/appearance', 'settings/about']) {
      await page.goto(world.server.base + path)
      await expect(page.getByRole('heading').first()).toBeVisible()
      expect(await audit(page), path).toEqual([])
    }
  })
