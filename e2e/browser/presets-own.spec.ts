import { FAST_DEMO, expect, shared, test as own, visit } from './fixtures.ts'
import { activate, audit, documentOf, line, menu, put, write } from './presets-screen.ts'

own.describe('on a server of its own', () => {
  own.use({ patches: [FAST_DEMO] })

  own(
    'own presets are renamed, put in order by keyboard, and one becomes the default until it is given back',
    async ({ page, world }) => {
      const client = await world.server.connect()
      for (const id of ['alpha', 'beta', 'gamma'])
        await client.command('preset.import', { text: documentOf(id, `${id}.`) })
      await client.close()
      await visit(page, world.server, 'presets/gamma')
      const names = page.locator('.plist li.own .b')
      await expect(names).toHaveText(['alpha', 'beta', 'gamma'])
      await line(page, 'gamma').focus()
      await page.keyboard.press('Alt+ArrowUp')
      await expect(names).toHaveText(['alpha', 'gamma', 'beta'])
      await menu(page, 'Move up')
      await expect(names).toHaveText(['gamma', 'alpha', 'beta'])
      await page.reload()
      await expect(names).toHaveText(['gamma', 'alpha', 'beta'])

      await page.getByRole('button', { name: 'Rename and describe' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('The third <b>')
      await page.getByRole('textbox', { name: 'What it is for' }).fill('Comes first.')
      await page.getByRole('textbox', { name: 'Name' }).press('Enter')
      await expect(names.first()).toHaveText('The third <b>')
      await expect(page.getByTestId('preset-gives')).toContainText('Comes first.')

      await menu(page, 'Make it the default')
      await expect(page.getByText('New sessions use gamma now')).toBeVisible()
      await expect(page.locator('.plist li.own').first()).toContainText('default')
      await world.restart()
      await page.reload()
      await expect(page.locator('.plist li.own').first()).toContainText('default')
      await menu(page, "Back to the deployment's default")
      await expect(page.getByText("The deployment's default is in force: standard")).toBeVisible()
      await expect(line(page, 'standard')).toContainText('default')
    },
  )

  for (const scheme of ['light', 'dark'] as const)
    own(`every view of a preset passes the accessibility audit in ${scheme}`, async ({ page, world }) => {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      const client = await world.server.connect()
      await client.command('preset.import', { text: documentOf('seen', 'Seen.') })
      await client.close()
      await visit(page, world.server, 'presets/seen')
      await expect(page.getByTestId('prompt-parts')).toBeVisible()
      expect(await audit(page)).toEqual([])
      for (const [path, id] of [
        ['document', 'preset-yaml'],
        ['generations', 'generations'],
        ['health', 'preset-health'],
        ['edit', 'preset-text'],
      ] as const) {
        await page.goto(`${world.server.base}presets/seen/${path}`)
        await expect(page.getByTestId(id)).toBeVisible()
        expect(await audit(page), path).toEqual([])
      }
      await write(page, documentOf('seen', 'Seen.').replace('tool-bash', 'tool-bsh'))
      await expect(page.getByTestId('preset-problem').first()).toBeVisible()
      expect(await audit(page), 'with a problem').toEqual([])
      await page.getByTestId('new-preset').click()
      await page.getByTestId('preset-id').fill('seen')
      await expect(page.getByText('This id is taken')).toBeVisible()
      expect(await audit(page), 'copy').toEqual([])
    })
})

shared.describe('on a phone', () => {
  shared.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

  shared('from the list to a preset, into its editor and back; nothing sticks out', async ({ page, shop }) => {
    const overflow = () =>
      page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    await put(shop, 'pocket', 'Small.')
    await visit(page, shop.server, 'presets')
    await line(page, 'pocket').tap()
    await expect(page.getByTestId('prompt-parts')).toContainText('Small.')
    expect(await overflow()).toBe(0)
    await page.getByRole('link', { name: 'Edit' }).first().tap()
    await write(page, documentOf('pocket', 'Smaller.'))
    await page.getByRole('radio', { name: 'Dry run' }).tap()
    await expect(page.getByTestId('dry-run')).toContainText('Smaller.')
    expect(await overflow()).toBe(0)
    await page.getByRole('radio', { name: 'Text' }).tap()
    await activate(page)
    await expect(page.getByTestId('activated')).toContainText('G2')
    expect(await overflow()).toBe(0)
    await page.getByTestId('all-presets').tap()
    await expect(line(page, 'pocket')).toContainText('G2')
    expect(await overflow()).toBe(0)
  })
})
