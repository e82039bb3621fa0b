import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { bash, begin, expect, say, shared as test } from './fixtures.ts'

const row = (page: Page, nth = 0) => page.getByTestId('tool-row').nth(nth)
const card = (page: Page) => page.getByRole('figure')

test('B29 a running command is stopped: it says so, and the session goes on', async ({ page, shop }) => {
  shop.script('stop', bash('echo started; sleep 3600; echo ne""ver'), { text: 'Going on.' })
  await begin(page, shop, 'stop')
  await expect(row(page)).toHaveAttribute('data-state', 'running')
  await expect(card(page).first()).toContainText('started')
  await page.getByTestId('stop').click()
  await expect(page.locator('.foot')).toContainText('stopped by you')
  await expect(row(page)).not.toHaveAttribute('data-state', 'running')
  await expect(page.getByTestId('transcript')).not.toContainText('never')
  await say(page, 'go on')
  await expect(page.getByTestId('transcript')).toContainText('Going on.')
  const results = shop.mock.requests.at(-1)!.body['messages'] as { role: string }[]
  expect(results.filter(({ role }) => role === 'tool')).toHaveLength(1)
})

test('a running command shows its output while it runs', async ({ page, shop }) => {
  shop.script(
    'live',
    bash("printf '\\033[32mgreen line\\033[0m\\n'; until [ -e live-go ]; do sleep 0.05; done; echo last"),
    {
      text: 'Done.',
    },
  )
  await begin(page, shop, 'live')
  await expect(card(page).first()).toContainText('green line')
  await expect(card(page).first().locator('.fg-green, .fg-2').first()).toHaveText('green line')
  await expect(row(page)).toHaveAttribute('data-state', 'running')
  await expect(page.getByTestId('stop')).toBeVisible()
  writeFileSync(join(shop.work, 'live-go'), '')
  await expect(page.getByTestId('transcript')).toContainText('Done.')
  await expect(row(page)).toHaveAttribute('data-state', 'done')
})

test('O-15 one shell for two calls: directory and variable of the first are there in the second', async ({
  page,
  shop,
}) => {
  shop.script(
    'shell',
    bash('mkdir -p inner && cd inner && export GREETING=hello-from-one'),
    bash('echo "$GREETING in $PWD"'),
    { text: 'The shell stayed.' },
  )
  await begin(page, shop, 'shell', 'minimal')
  await expect(page.getByTestId('transcript')).toContainText('The shell stayed.')
  await row(page, 1).click()
  await expect(card(page)).toContainText(`hello-from-one in ${join(shop.work, 'inner')}`)
})

test('a failed command opens by itself, red, with its exit code', async ({ page, shop }) => {
  shop.script('fail', bash('echo before; exit 3'), { text: 'It failed.' })
  await begin(page, shop, 'fail')
  await expect(row(page)).toContainText('exit 3')
  await expect(row(page)).toHaveAttribute('aria-expanded', 'true')
  await expect(card(page)).toContainText('before')
  await expect(row(page)).toHaveClass(/bad/)
})

test('an edit shows its diff: lines taken out and put in, with counts in the row', async ({ page, shop }) => {
  const path = join(shop.work, 'loop.sh')
  writeFileSync(path, 'total=0\nfor p in 3 4 5; do\n  total=$p\ndone\n')
  const edit = { command: 'str_replace', path, old_str: '  total=$p\n', new_str: '  total=$((total + p))\n  echo $p\n' }
  shop.script(
    'edit',
    { toolCalls: [{ name: 'str_replace_editor', arguments: JSON.stringify(edit) }] },
    { text: 'Edited it.' },
  )
  await begin(page, shop, 'edit', 'minimal')
  await expect(row(page)).toContainText('loop.sh')
  await expect(row(page)).toContainText('+2')
  await expect(row(page)).toContainText('-1')
  const diff = page.getByRole('figure', { name: 'Changes' })
  await expect(diff.locator('.d span')).toHaveText(['  total=$p'])
  await expect(diff.locator('.a span')).toHaveText(['  total=$((total + p))', '  echo $p'])
  expect(readFileSync(path, 'utf8')).toContain('total=$((total + p))')
})

test('B84 a terminal card shows the same text after a reload', async ({ page, shop }) => {
  const picture =
    "printf '\\033[2J\\033[Hone\\rONE\\n\\033[1;31mtwo\\033[0m\\n10%%\\r20%%\\r100%%\\n'; echo 'last ✓ 你好'"
  shop.script('again', bash(picture), { text: 'Shown.' })
  await begin(page, shop, 'again')
  await expect(page.getByTestId('transcript')).toContainText('Shown.')
  await row(page).click()
  await expect(card(page)).toContainText('last ✓ 你好')
  const before = await card(page).innerText()
  expect(before).toContain('100%')
  await page.reload()
  await row(page).click()
  await expect.poll(() => card(page).innerText()).toBe(before)
})

/** Runs in the page, which has types of its own. */
const WATCH = `
  window.longest = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration)
  }).observe({ type: 'longtask' })
`

/** Twenty million divisions: some 40 ms of one core that has nothing else to do. */
const WORK = `
  const start = performance.now()
  let sum = 0
  for (let n = 0; n < 2e7; n++) sum += n % 7
  performance.now() - start
`

interface Strain {
  /** Longest time the page's own thread was busy without a pause. */
  longest: number
  /** What it may be on this machine, as busy as it is now. */
  allowed: number
  elements: number
}

/** From here to `until`. */
async function strain(page: Page, until: () => Promise<void>): Promise<Strain> {
  const pace = []
  for (let round = 0; round < 5; round++) pace.push(await page.evaluate<number>(`{${WORK}}`))
  await page.evaluate(WATCH)
  await until()
  const seen = await page.evaluate<{ longest: number; elements: number }>(
    "({ longest: window.longest, elements: document.querySelectorAll('*').length })",
  )
  return { ...seen, allowed: Math.max(BLOCKED_MS, 40 * Math.max(...pace)) }
}

/** Elements of a whole page with one open card; a card of 300 lines has some 1,500. */
const ELEMENTS = 4000
/** Far above what is normal (under 50 ms), far below what a reader calls hanging. */
const BLOCKED_MS = 1500

test('B80 four megabytes of output: the page stays quick and holds a part, the whole is one click away', async ({
  page,
  shop,
}) => {
  // The tool caps what the model reads; what runs is shown live, and the file view takes the rest.
  shop.script('big', bash('seq 1 600000'), { text: 'That was much.' })
  await begin(page, shop, 'big')
  const { longest, allowed, elements } = await strain(page, async () => {
    await expect(page.getByTestId('transcript')).toContainText('That was much.')
    if ((await row(page).getAttribute('aria-expanded')) === 'false') await row(page).click()
    await expect(card(page)).toContainText('600000')
  })
  expect(elements).toBeLessThan(ELEMENTS)
  expect(longest).toBeLessThan(allowed)
  await page.locator('.open').hover()
  await page.locator('.open').getByRole('button', { name: 'Open full' }).first().click()
  await expect(page.getByRole('dialog')).toContainText('lines')
  await page.keyboard.press('Escape')
  await say(page, 'still there?')
  await expect(page.getByTestId('transcript')).toContainText('still there?')
})

test('B80 B81 a diff of 5,000 lines is closed at first, and open it is cut', async ({ page, shop }) => {
  const path = join(shop.work, 'long.txt')
  const lines = (word: string) => Array.from({ length: 5000 }, (_, n) => `${word} ${n}\n`).join('')
  writeFileSync(path, lines('before'))
  const edit = { command: 'str_replace', path, old_str: lines('before'), new_str: lines('after') }
  shop.script(
    'diff',
    { toolCalls: [{ name: 'str_replace_editor', arguments: JSON.stringify(edit) }], chunk: 4000 },
    { text: 'Replaced all.' },
  )
  await begin(page, shop, 'diff', 'minimal')
  await expect(page.getByTestId('transcript')).toContainText('Replaced all.')
  await expect(row(page)).toContainText('+5000')
  await expect(row(page)).toHaveAttribute('aria-expanded', 'false')
  await expect(card(page)).toHaveCount(0)
  const { longest, allowed, elements } = await strain(page, async () => {
    await row(page).click()
    await expect(page.locator('.open')).toContainText('before 0')
    await expect(page.locator('.more').first()).toBeVisible()
  })
  expect(elements).toBeLessThan(ELEMENTS)
  expect(longest).toBeLessThan(allowed)
})
