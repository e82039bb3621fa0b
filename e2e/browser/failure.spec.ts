import { begin, expect, shared as test } from './fixtures.ts'

test('B02 a refused key is told in plain words with its code, and trying again goes on', async ({ page, shop }) => {
  shop.script('refused', { behavior: 'auth_error' }, { text: 'Now it worked.' })
  await begin(page, shop, 'refused')
  const problem = page.getByTestId('transcript').getByRole('alert')
  await expect(problem).toContainText('Mock provider refused the key.')
  await expect(problem).toContainText('AUTH')
  await page.getByTestId('try-again').click()
  await expect(page.getByTestId('transcript')).toContainText('Now it worked.')
  await expect(page.getByTestId('try-again')).toHaveCount(0)
})
