import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import type { Reply } from '../mock-llm/reply.ts'
import { addFolder, bash, expect, mark, say, shared as test, test as bare, visit, type Shop } from './fixtures.ts'

const write = (path: string): Reply => ({
  toolCalls: [{ name: 'write', arguments: JSON.stringify({ file_path: path, content: 'one\ntwo' }) }],
})
const panel = (page: Page) => page.getByTestId('approval')
const chip = (page: Page) => page.getByTestId('permission-chip')
const transcript = (page: Page) => page.getByTestId('transcript')

/** A session under a permission preset that asks the model on its lane. */
async function begin(page: Page, shop: Shop, lane: string, permission: string): Promise<void> {
  await visit(page, shop.server, 'new')
  await chip(page).click()
  await page.getByTestId(`permission-${permission}`).click()
  await say(page, `${mark(lane)} go`)
  await expect(transcript(page)).toContainText(mark(lane))
}

test('an approval stands in two windows and over a reload; the first answer holds, the other window says so', async ({
  page,
  shop,
  context,
}) => {
  const file = join(shop.work, 'approved.txt')
  shop.script('two-windows', write(file), { text: 'All done.' })
  await begin(page, shop, 'two-windows', 'ask')
  await expect(panel(page)).toContainText(file)
  await expect(panel(page)).toContainText('+ two')
  await expect(page.locator('.dot.needs-you').first()).toBeVisible()
  await page.reload()
  await expect(panel(page)).toContainText(file)
  const other = await context.newPage()
  await other.goto(page.url())
  await expect(panel(other)).toContainText(file)
  expect(existsSync(file)).toBe(false)
  await panel(other).getByTestId('answer-once').click()
  await expect(panel(page)).toBeHidden()
  await expect(panel(other)).toBeHidden()
  await expect(transcript(page)).toContainText('All done.')
  expect(existsSync(file)).toBe(true)
  await other.close()
})

test('denied with a note: the agent reads it, nothing is written', async ({ page, shop }) => {
  const file = join(shop.work, 'denied.txt')
  shop.script('deny', write(file), { text: 'I will not.' })
  await begin(page, shop, 'deny', 'ask')
  await panel(page).getByRole('textbox').fill('use the docs folder')
  await panel(page).getByTestId('answer-reject').click()
  await expect(transcript(page)).toContainText('I will not.')
  await expect(transcript(page)).toContainText('PERMISSION_REJECTED')
  expect(JSON.stringify(shop.mock.requests.at(-1)!.body)).toContain('use the docs folder')
  expect(existsSync(file)).toBe(false)
})

test('allowed for this session: the same command passes from then on, and the rule can be taken back', async ({
  page,
  shop,
}) => {
  shop.script('rule', bash('echo first'), bash('echo first'), { text: 'Twice.' })
  await begin(page, shop, 'rule', 'ask')
  await expect(panel(page)).toContainText('echo first')
  // Nobody types: the number answers.
  await page.getByTestId('approval').locator('h2').click()
  await page.getByTestId('composer').blur()
  await page.keyboard.press('2')
  await expect(transcript(page)).toContainText('Twice.')
  await chip(page).click()
  const rules = page.getByTestId('session-rules')
  await expect(rules).toContainText('bash echo first')
  await rules.getByRole('button').click()
  await expect(rules).toBeHidden()
})

test('a read-only session refuses an edit and offers the way on; switching ends the shell only after a yes', async ({
  page,
  shop,
}) => {
  const file = join(shop.work, 'read-only.txt')
  shop.script('read-only', write(file), { text: 'Cannot.' })
  await begin(page, shop, 'read-only', 'read-only')
  await expect(transcript(page)).toContainText('Cannot.')
  const denied = page.getByTestId('denied')
  await expect(denied).toContainText('read-only')
  await denied.getByRole('button').click()
  await expect(chip(page)).toContainText('Workspace')
  await expect(denied).toBeHidden()
  await chip(page).click()
  await page.getByTestId('permission-full').click()
  await expect(page.getByRole('alertdialog')).toContainText('shell ends')
  await page.getByTestId('permission-sure').click()
  await expect(chip(page)).toContainText('Not confined')
  await expect(chip(page)).toHaveClass(/bare/)
  await page.reload()
  await expect(chip(page)).toContainText('Not confined')
})

test('own choices, rules with a rehearsal, and the default are kept by the host', async ({ page, shop }) => {
  shop.script('rehearsed', bash('git status'), { text: 'Fine.' })
  await begin(page, shop, 'rehearsed', 'workspace-write')
  await expect(transcript(page)).toContainText('Fine.')
  await visit(page, shop.server, 'settings/permissions')
  await page.getByTestId('own-new').click()
  await page.getByLabel('Name').fill('Careful, offline')
  await page.getByRole('switch', { name: 'Network' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByTestId('own-careful-offline')).toBeVisible()
  await page.getByTestId('permission-careful-offline').click()
  await expect(page.getByTestId('permission-careful-offline')).toHaveAttribute('aria-selected', 'true')
  const rule = page.getByTestId('new-rule')
  await rule.getByLabel('Command or path').fill('git status')
  await rule.getByTestId('rehearse').click()
  await expect(rule.getByTestId('rehearsal')).toContainText('It matches')
  await expect(rule.getByTestId('rehearsal')).toContainText('git status')
  await rule.getByRole('button', { name: 'Add rule' }).click()
  await expect(page.getByTestId('rule')).toContainText('bash git status')
  await page.reload()
  await expect(page.getByTestId('rule')).toContainText('bash git status')
  await visit(page, shop.server, 'new')
  await expect(chip(page)).toContainText('Careful, offline')
  await visit(page, shop.server, 'settings/permissions')
  await page
    .getByTestId('own-careful-offline')
    .getByRole('button', { name: /Remove/ })
    .click()
  await expect(page.getByTestId('permission-workspace-write')).toHaveAttribute('aria-selected', 'true')
})

const NO_RUNNER = '- id: sandbox\n  config:\n    path: /nowhere\n'

bare.use({ patches: [NO_RUNNER] })
bare('where nothing confines, New session says so and takes neither way by itself', async ({ page, world }) => {
  await page.goto(world.server.url)
  await expect(page.getByTestId('first-run')).toContainText('Nothing confines it there')
  await addFolder(page, world)
  const note = page.getByTestId('no-runner')
  await expect(note).toContainText('Nothing confines commands on this machine')
  await note.getByRole('button', { name: 'How to fix it' }).click()
  await expect(note).toContainText('no program bwrap')
  await expect(note).toContainText('bubblewrap')
  await note.getByTestId('probe').click()
  await expect(note).toBeVisible()
  await chip(page).click()
  await expect(page.getByTestId('permission-workspace-write')).toHaveAttribute('aria-disabled', 'true')
  await page.keyboard.press('Escape')
  await note.getByTestId('run-bare').click()
  await expect(note).toBeHidden()
  await expect(chip(page)).toHaveClass(/bare/)
  await visit(page, world.server, 'settings/about')
  await expect(page.getByTestId('verdict')).toContainText('Nothing confines commands')
})
