import { expect, test } from './fixtures.ts'

test('a path that is typed before the first listing has come is kept, and leads where it says', async ({
  page,
  world,
}) => {
  const held: (() => void)[] = []
  let holding = true
  await page.routeWebSocket(/\/api\/socket/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((message) => server.send(message))
    server.onMessage((message) => {
      if (holding && String(message).includes('"name":"workspace.browse"')) held.push(() => socket.send(message))
      else socket.send(message)
    })
  })
  await page.goto(world.server.url)
  await page.getByTestId('choose-folder').click()
  const path = page.getByRole('dialog').getByRole('textbox')
  await path.fill(world.work)
  await expect.poll(() => held.length).toBe(1)
  holding = false
  held[0]!()
  await expect(page.getByRole('dialog').getByRole('option').first()).toBeVisible()
  await expect(path).toHaveValue(world.work)
  await path.press('Enter')
  await page.getByTestId('use-folder').click()
  await expect(page.getByTestId('preset-card').first()).toBeVisible()
})
