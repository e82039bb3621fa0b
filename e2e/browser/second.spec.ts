import { expect, FAST_DEMO, playDemo, say, test, visit } from './fixtures.ts'
import { startServer } from '../process.ts'

test.use({ patches: [FAST_DEMO] })

test('B21 B23 a second server on the same data shows a session read-only, and takes it over when the first is gone', async ({
  page,
  world,
  context,
}) => {
  await playDemo(page, world)
  await expect(page.getByTestId('send')).toBeVisible()
  const path = new URL(page.url()).pathname.slice(1)
  const second = await startServer({ dataDir: world.dataDir, env: { HOME: world.home } })
  const other = await context.newPage()
  await visit(other, second, path)
  await expect(other.getByTestId('transcript')).toContainText('prints 12')
  await expect(other.getByTestId('read-only')).toContainText(String(world.server.child.pid))
  await expect(other.getByTestId('composer')).not.toBeEditable()

  await say(page, 'and now?')
  await expect(page.getByTestId('transcript')).toContainText('That is the whole demo')
  await expect(other.getByTestId('transcript')).toContainText('That is the whole demo')

  await world.server.stop()
  await other.reload()
  await expect(other.getByTestId('read-only')).toHaveCount(0)
  await say(other, 'from the second server')
  await expect(other.locator('.said').last()).toContainText('from the second server')
  await expect(other.getByTestId('send')).toBeVisible()

  await world.restart()
  await page.reload()
  await expect(page.getByTestId('read-only')).toContainText(String(second.child.pid))
  await expect(page.getByTestId('transcript')).toContainText('from the second server')
  await other.close()
  await second.stop()
})
