import type { Page } from '@playwright/test'
import { documentOf } from '../browser/presets-screen.ts'
import { MODEL_SHOTS } from './model-screens.ts'
import type { HeldUp } from './month.ts'
import type { Cast } from './story.ts'
import { USAGE_SHOTS } from './usage-screens.ts'

export interface Shot {
  name: string
  /** `month`: a host with two months of requests. */
  where: 'bare' | 'full' | 'second' | 'month'
  path(cast: Cast & HeldUp): string
  /** Brings the screen to the state to show, and waits for it. */
  show(page: Page, phone: boolean): Promise<unknown>
  phoneOnly?: true
  /** Not logged in. */
  stranger?: true
}

/** A row with a name that no plugin has. */
const TYPO = `      - id: notes
        name: tool-tudo
      - id: limit
        name: tool-fs
        config:
          maxOutputChars: !!js env.CI ? 8000 : 16000
`

const sees = (page: Page, text: string) => page.getByText(text).first().waitFor()

/** Every screen that has a picture. */
export const SHOTS: readonly Shot[] = [
  { name: 'first-run', where: 'bare', path: () => '', show: (page) => page.getByTestId('first-run').waitFor() },
  { name: 'login', where: 'full', path: () => '', stranger: true, show: (page) => page.locator('form').waitFor() },
  {
    name: 'new-session',
    where: 'full',
    path: () => 'new',
    async show(page) {
      await page.getByTestId('composer').fill('The split loses a cent on 100 / 3. Find out why and fix it.')
      await page.getByTestId('preset-card').filter({ hasText: 'minimal' }).first().click()
      await page.locator('.delta').waitFor()
      await page.getByTestId('composer').focus()
    },
  },
  {
    name: 'folder',
    where: 'full',
    path: () => 'new',
    async show(page) {
      await page.getByTestId('workspace-chip').click()
      await page.getByText('Another folder').click()
      await page.getByRole('dialog').getByRole('option').first().waitFor()
    },
  },
  {
    name: 'session',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await sees(page, 'The remainder is kept now')
      await page.getByTestId('transcript').evaluate((element) => element.scrollTo(0, 0))
      await sees(page, 'test_split_keeps_remainder fails')
      await page.getByTestId('transcript').evaluate((element) => element.scrollTo(0, 0))
    },
  },
  {
    name: 'prompt',
    where: 'full',
    path: ({ finished }) => `s/${finished}/prompt/1/3`,
    show: (page) => page.getByTestId('prompt-view').waitFor(),
  },
  {
    name: 'prompt-difference',
    where: 'full',
    path: ({ finished, other }) => `s/${finished}/prompt/1/1?against=${other}.1.1`,
    show: (page) => page.getByTestId('prompt-diff').first().waitFor(),
  },
  {
    name: 'prompt-blank',
    where: 'full',
    path: ({ blank }) => `s/${blank}/prompt`,
    show: (page) => page.getByTestId('prompt-dry').waitFor(),
  },
  {
    name: 'locked',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.getByTestId('preset-chip').first().click()
      await page.getByTestId('fork-into').waitFor()
    },
  },
  {
    name: 'fork',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.getByTestId('preset-chip').first().click()
      await page.getByTestId('fork-into').click()
      await page.locator('[data-testid=fork-report][data-state=shown]').waitFor()
    },
  },
  {
    name: 'switched',
    where: 'full',
    path: ({ blank }) => `s/${blank}`,
    async show(page) {
      const chip = page.getByTestId('preset-chip').first()
      await chip.waitFor()
      const to = (await chip.textContent())?.includes('minimal') ? 'standard' : 'minimal'
      await chip.click()
      await page.getByRole('option').filter({ hasText: to }).first().click()
      await page.getByTestId('preset-delta').waitFor()
    },
  },
  {
    name: 'session-end',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    show: (page) => sees(page, 'Negative totals'),
  },
  {
    name: 'running',
    where: 'full',
    path: ({ running }) => `s/${running}`,
    show: (page) => page.getByTestId('queue-row').nth(1).waitFor(),
  },
  {
    name: 'failed',
    where: 'full',
    path: ({ failed }) => `s/${failed}`,
    show: (page) => page.locator('.problem').waitFor(),
  },
  {
    name: 'models',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.getByTestId('model-chip').last().click()
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'refused',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.getByTestId('composer').fill('Also cover negative totals')
      await page.getByTestId('composer').press('Enter')
      await page.locator('.problem').waitFor()
    },
  },
  {
    name: 'offline',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    async show(page) {
      await page.evaluate('cutTheLine()')
      await page.getByTestId('composer').fill('Also cover negative totals')
      await page.getByTestId('composer').press('Enter')
      await page.locator('.pill').waitFor()
    },
  },
  {
    name: 'read-only',
    where: 'second',
    path: ({ finished }) => `s/${finished}`,
    show: (page) => page.getByTestId('read-only').waitFor(),
  },
  {
    name: 'settings-models',
    where: 'full',
    path: () => 'settings/models',
    async show(page) {
      const row = page.getByTestId('provider-row').filter({ hasText: 'Lab gateway' })
      await row.getByRole('button').first().click()
      await row.getByText('Base URL').waitFor()
    },
  },
  ...USAGE_SHOTS,
  ...MODEL_SHOTS,
  {
    name: 'settings-appearance',
    where: 'full',
    path: () => 'settings/appearance',
    show: (page) => sees(page, 'Theme'),
  },
  { name: 'settings-about', where: 'full', path: () => 'settings/about', show: (page) => sees(page, 'Data folder') },
  { name: 'presets', where: 'full', path: () => 'presets', show: (page) => page.getByRole('heading').nth(1).waitFor() },
  {
    name: 'presets-document',
    where: 'full',
    path: () => 'presets/minimal/document',
    show: (page) => page.getByTestId('preset-yaml').waitFor(),
  },
  {
    name: 'presets-generations',
    where: 'full',
    path: () => 'presets/standard/generations',
    show: (page) => page.getByTestId('generations').waitFor(),
  },
  {
    name: 'presets-edit',
    where: 'full',
    path: () => 'presets/data-lab/edit',
    async show(page) {
      await page.getByTestId('preset-text').click()
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.insertText(documentOf('data-lab', 'You explore tables. Show numbers first.', TYPO))
      await page.getByTestId('preset-problem').first().waitFor()
      await sees(page, 'draft kept')
    },
  },
  {
    name: 'palette',
    where: 'full',
    path: () => 'new',
    async show(page) {
      await page.getByTestId('composer').waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'rail-sheet',
    where: 'full',
    path: ({ finished }) => `s/${finished}`,
    phoneOnly: true,
    async show(page) {
      await page.getByRole('button', { name: 'Sessions' }).click()
      await page.getByRole('dialog').getByTestId('rail-session').first().waitFor()
    },
  },
  { name: 'not-found', where: 'full', path: () => 's/none', show: (page) => page.locator('.empty').waitFor() },
]
