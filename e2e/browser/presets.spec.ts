import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { begin, expect, mark, say, shared, visit } from './fixtures.ts'
import type { Shop } from './fixtures.ts'
import { activate, documentOf, editor, line, menu, put, write } from './presets-screen.ts'

const fileOf = (shop: { dataDir: string }, id: string): string => join(shop.dataDir, 'presets', `${id}.yml`)

/** A session of a preset with one answered turn. */
async function talk(page: Page, shop: Shop, lane: string, preset: string): Promise<string> {
  shop.script(lane, { text: `answer on ${lane}` })
  await begin(page, shop, lane, preset as 'minimal')
  await expect(page.getByTestId('transcript')).toContainText(`answer on ${lane}`)
  return page.url().split('/s/')[1]!
}

shared(
  'a preset file that breaks on the disk shows why and where, keeps its last good text, and heals',
  async ({ page, shop }) => {
    const file = fileOf(shop, 'mend')
    await put(shop, 'mend', 'You mend things.')
    await visit(page, shop.server, 'presets/mend')
    await expect(page.getByTestId('prompt-parts')).toContainText('You mend things.')
    const good = readFileSync(file, 'utf8')
    writeFileSync(file, `${good}\n   - : [unclosed\n`)
    await expect(page.getByTestId('preset-stale')).toBeVisible()
    await expect(line(page, 'mend')).toContainText('last good text')
    await expect(page.getByTestId('prompt-parts')).toContainText('You mend things.')
    await page.getByTestId('preset-stale').getByRole('link').click()
    await expect(page.getByTestId('preset-problem').first()).toBeVisible()
    await expect(editor(page)).toBeFocused()
    writeFileSync(file, good.replace('mend things', 'mend everything'))
    await expect(editor(page)).toContainText('You mend everything.')
    await page.getByRole('link', { name: 'What it gives' }).click()
    await expect(page.getByTestId('preset-stale')).toHaveCount(0)
    await expect(page.getByTestId('prompt-parts')).toContainText('You mend everything.')
    await expect(line(page, 'mend')).toContainText('G2')
  },
)

shared(
  'a copy is edited live: diagnostics, dry run, two generations in use, and the earlier text again',
  async ({ page, shop }) => {
    await visit(page, shop.server, 'presets/minimal')
    await page.getByRole('button', { name: 'Copy to edit' }).click()
    const id = page.getByTestId('preset-id')
    await id.fill('minimal')
    await expect(page.getByText('This id is taken')).toBeVisible()
    await id.fill('Bad Id')
    await expect(page.getByTestId('copy-preset')).toHaveAttribute('aria-disabled', 'true')
    await id.fill('live')
    await page.getByTestId('copy-preset').click()
    await expect(editor(page)).toContainText('id: live')
    await write(page, documentOf('live', 'First words.'))
    await expect(page.getByTestId('dry-run')).toContainText('First words.')
    await activate(page)
    await expect(page.getByTestId('activated')).toContainText('G2')
    const first = await talk(page, shop, 'live-one', 'live')

    await visit(page, shop.server, 'presets/live/edit')
    await write(page, documentOf('live', 'Second words.').replace('tool-bash', 'tool-bsh'))
    await expect(page.getByTestId('preset-problem').first()).toContainText('tool-bsh')
    await expect(page.getByTestId('activate')).toHaveAttribute('aria-disabled', 'true')
    await page.getByTestId('preset-problem').first().click()
    await expect(editor(page)).toBeFocused()
    await write(page, documentOf('live', 'Second words.'))
    await page.getByRole('tab', { name: /Against G2/ }).click()
    await expect(page.getByTestId('differences')).toContainText('Second words.')
    await expect(page.getByTestId('activate')).not.toHaveAttribute('aria-disabled')
    await editor(page).click()
    await page.keyboard.press('ControlOrMeta+s')
    await expect(page.getByTestId('activated')).toContainText('G3')
    const second = await talk(page, shop, 'live-two', 'live')

    await visit(page, shop.server, 'presets/live/generations')
    const generations = page.getByTestId('generation')
    await expect(generations).toHaveCount(2)
    await expect(generations.nth(0)).toContainText('G3')
    await expect(generations.nth(0).locator(`a[href$="${second}"]`)).toBeVisible()
    await expect(generations.nth(1)).toContainText('retired')
    await expect(generations.nth(1).locator(`a[href$="${first}"]`)).toBeVisible()
    await generations.nth(1).locator(`a[href$="${first}"]`).click()
    shop.script('live-one', { text: 'still the first' })
    await say(page, `${mark('live-one')} again`)
    await expect(page.getByTestId('transcript')).toContainText('still the first')

    await visit(page, shop.server, 'presets/live/edit')
    await page.getByRole('button', { name: 'Earlier texts' }).click()
    const dialog = page.getByRole('dialog')
    await expect(dialog.locator('.diff')).toContainText('First words.')
    await dialog.getByRole('button', { name: 'Bring back' }).click()
    await expect(editor(page)).toContainText('First words.')
    await activate(page)
    await expect(page.getByTestId('activated')).toBeVisible()
    await page.getByRole('link', { name: 'What it gives' }).click()
    await expect(page.getByTestId('prompt-parts')).toContainText('First words.')
  },
)

shared('blank sessions of an older generation are moved to the newest', async ({ page, shop }) => {
  await put(shop, 'mover', 'One.')
  const client = await shop.server.connect()
  const { workspace } = await client.command('workspace.add', { path: shop.work, confirmed: true })
  const { session } = await client.command('session.create', { workspace: workspace.id, preset: 'mover' })
  await visit(page, shop.server, 'presets/mover/edit')
  await write(page, documentOf('mover', 'Two.'))
  await activate(page)
  await expect(page.getByTestId('activated')).toContainText('G2')
  await page.getByRole('link', { name: 'Generations' }).click()
  await expect(page.getByTestId('generation')).toHaveCount(2)
  await expect(page.getByTestId('generation').nth(1).locator(`a[href$="${session}"]`)).toBeVisible()
  await page.getByRole('button', { name: 'Move blank sessions to the newest' }).click()
  await expect(page.getByTestId('moved')).toContainText('1 session moved')
  await expect(page.getByTestId('generation')).toHaveCount(1)
  await expect(page.getByTestId('generation').locator(`a[href$="${session}"]`)).toBeVisible()
  await client.close()
})

shared(
  'two tabs edit one document: the second is told, sees the difference, and chooses',
  async ({ page, shop, context }) => {
    await put(shop, 'twice', 'Base.')
    await visit(page, shop.server, 'presets/twice/edit')
    await expect(editor(page)).toContainText('Base.')
    await write(page, documentOf('twice', 'Of the first tab.'))
    await expect(page.getByTestId('draft-state')).toContainText('draft kept')
    const other = await context.newPage()
    const client = await shop.server.connect()
    const { digest } = (await (
      await fetch(`${shop.server.base}api/presets/twice/source`, { headers: { cookie: await cookies(other) } })
    ).json()) as { digest: string }
    await client.command('preset.save', {
      preset: 'twice',
      text: documentOf('twice', 'Of the second tab.'),
      base: digest,
    })
    const conflict = page.getByTestId('conflict')
    await expect(conflict).toContainText('agent-preset/changed-meanwhile')
    await expect(page.getByTestId('activate')).toHaveAttribute('aria-disabled', 'true')
    await conflict.getByRole('button', { name: 'Show the difference' }).click()
    await expect(conflict.locator('.diff')).toContainText('Of the second tab.')
    await conflict.getByRole('button', { name: 'Keep mine' }).click()
    await expect(conflict).toHaveCount(0)
    await activate(page)
    await expect(page.getByTestId('activated')).toBeVisible()
    expect(readFileSync(fileOf(shop, 'twice'), 'utf8')).toContain('Of the first tab.')

    // The other tab opens on what is in force, and the draft of one tab does not come up in it.
    await visit(other, shop.server, 'presets/twice/edit')
    await expect(editor(other)).toContainText('Of the first tab.')
    await expect(other.getByTestId('draft-state')).toContainText('no changes')
    await other.close()
    await client.close()
  },
)

const cookies = async (page: Page): Promise<string> =>
  (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')

shared('a draft survives leaving and reloading, and can be discarded', async ({ page, shop }) => {
  await put(shop, 'drafty', 'As saved.')
  await visit(page, shop.server, 'presets/drafty/edit')
  await expect(editor(page)).toContainText('As saved.')
  await write(page, documentOf('drafty', 'Not saved.'))
  await page.getByRole('link', { name: 'Document' }).click()
  await expect(page.getByText('Draft of drafty kept in this browser')).toBeVisible()
  await expect(page.getByTestId('preset-yaml')).toContainText('As saved.')
  await page.getByRole('button', { name: 'Back to it' }).click()
  await expect(editor(page)).toContainText('Not saved.')
  await page.reload()
  await expect(editor(page)).toContainText('Not saved.')
  await editor(page).click()
  await page.keyboard.press('Escape')
  await expect(editor(page)).not.toBeFocused()
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(editor(page)).toContainText('As saved.')
  await page.reload()
  await expect(editor(page)).toContainText('As saved.')
})

shared('completion offers rows, keys and values of the running host', async ({ page, shop }) => {
  await put(shop, 'words', 'Words.')
  await visit(page, shop.server, 'presets/words/edit')
  await editor(page).click()
  await page.keyboard.press('ControlOrMeta+End')
  await page.keyboard.insertText('      - id: more\n        name: tool-tod')
  await page.keyboard.press('Control+Space')
  const list = page.locator('.cm-tooltip-autocomplete')
  // By the mouse: the list takes keys only once it has stood for a moment.
  await list.getByRole('option', { name: /^tool-todo/ }).click()
  await expect(editor(page)).toContainText('name: tool-todo')
  await page.keyboard.insertText('\n      - id: who\n        name: persona\n        config:\n          comp')
  await page.keyboard.press('Control+Space')
  await expect(list).toContainText('complete')
  await page.keyboard.press('Escape')
  await page.keyboard.insertText('lete: ')
  await page.keyboard.press('Control+Space')
  await expect(list).toContainText('true')
  await expect(list).toContainText('!!js')
})

shared(
  'a document goes out as a file, is deleted, brought back, and comes in again under another id',
  async ({ page, shop }, info) => {
    await put(shop, 'porter', 'Carries.')
    await visit(page, shop.server, 'presets/porter')
    const [download] = await Promise.all([page.waitForEvent('download'), menu(page, 'Export')])
    expect(download.suggestedFilename()).toBe('porter.yml')
    const file = info.outputPath('porter.yml')
    await download.saveAs(file)
    expect(readFileSync(file, 'utf8')).toBe(readFileSync(fileOf(shop, 'porter'), 'utf8'))

    await menu(page, 'Delete')
    await expect(line(page, 'porter')).toHaveCount(0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(line(page, 'porter')).toBeVisible()

    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByTestId('import-file').setInputFiles(file)
    await expect(page.getByTestId('import-findings')).toContainText('No problems found')
    await expect(page.getByText('This id is taken')).toBeVisible()
    await page.getByTestId('preset-id').fill('porter-two')
    await page.getByTestId('import-preset').click()
    await expect(page.getByTestId('preset-gives')).toContainText('porter-two')
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByTestId('import-text').fill('- id: x\n  name: agent-preset\n  config: [')
    await expect(page.getByTestId('import-findings').locator('.note.fail').first()).toBeVisible()
    await expect(page.getByTestId('import-preset')).toHaveAttribute('aria-disabled', 'true')
  },
)
