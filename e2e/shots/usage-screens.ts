import type { Shot } from './screens.ts'

/** The usage screen over two months of work, and before the first request. */
export const USAGE_SHOTS: readonly Shot[] = [
  {
    name: 'usage',
    where: 'month',
    path: () => 'usage',
    async show(page) {
      await page.getByTestId('usage-models').waitFor()
      await page.getByTestId('usage-scrub').hover({ position: { x: 240, y: 60 } })
      await page.locator('[data-testid=usage-readout][data-day]').waitFor()
    },
  },
  {
    name: 'usage-end',
    where: 'month',
    path: () => 'usage',
    async show(page) {
      await page.getByTestId('usage-sessions').waitFor()
      await page.getByTestId('usage-sessions').evaluate((element) => element.scrollIntoView({ block: 'end' }))
    },
  },
  {
    name: 'usage-requests',
    where: 'month',
    path: () => 'usage?days=90&unit=requests',
    show: (page) => page.getByTestId('usage-models').waitFor(),
  },
  {
    name: 'usage-table',
    where: 'month',
    path: () => 'usage?days=7&unit=tokens',
    async show(page) {
      await page.getByTestId('usage-as-table').click()
      await page.getByTestId('usage-day-table').waitFor()
    },
  },
  {
    name: 'usage-empty',
    where: 'bare',
    path: () => 'usage',
    show: (page) => page.getByTestId('usage-empty').waitFor(),
  },
]
