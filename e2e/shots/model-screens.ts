import type { Shot } from './screens.ts'

/** Where models are set, and what a session says when a provider or a limit holds it up. */
export const MODEL_SHOTS: readonly Shot[] = [
  {
    name: 'settings-sessions',
    where: 'month',
    path: () => 'settings/sessions',
    show: (page) => page.locator('#budget').waitFor(),
  },
  {
    name: 'settings-route',
    where: 'month',
    path: () => 'settings/models?provider=lab',
    show: (page) => page.locator('[data-provider=lab] [aria-expanded=true]').first().waitFor(),
  },
  {
    name: 'settings-price',
    where: 'month',
    path: () => 'settings/models?provider=lab&model=deepseek-v4-flash',
    show: (page) => page.locator('[data-provider=lab] [aria-expanded=true], [role=dialog]').first().waitFor(),
  },
  {
    name: 'retry',
    where: 'month',
    path: ({ retrying }) => `s/${retrying}`,
    show: (page) => page.getByTestId('retry').waitFor(),
  },
  {
    name: 'budget-stop',
    where: 'month',
    path: ({ stopped }) => `s/${stopped}`,
    show: (page) => page.getByTestId('turn-error').waitFor(),
  },
]
