import { createServer, type Server } from 'node:http'
import { expect, test, visit } from './fixtures.ts'
import { rowOf } from './settings-screen.ts'

/** The ports that LM Studio and llama.cpp use by default: the page looks nowhere else. */
const LM_STUDIO = 1234
const LLAMA_CPP = 8080

/** An answer of a model server on a usual port; undefined when the port is somebody else's. */
async function serve(port: number, models: string[]): Promise<Server | undefined> {
  const server = createServer((request, response) => {
    const data = models.map((id) => ({ id, object: 'model' }))
    response.writeHead(request.url?.endsWith('/models') ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ object: 'list', data }))
  })
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

test('model servers of this machine are found, added with one click, and said to be there already', async ({
  page,
  world,
}) => {
  const [studio, llama] = [await serve(LM_STUDIO, ['qwen3-coder', 'gpt-oss']), await serve(LLAMA_CPP, [])]
  test.skip(!studio || !llama, 'something else listens on a usual port of this machine')
  await visit(page, world.server, 'settings/models')
  const found = page.getByTestId('local-server')
  const ready = found.filter({ hasText: 'LM Studio' })
  await expect(ready).toContainText('qwen3-coder and 1 more, no key needed')
  await expect(found.filter({ hasText: 'llama.cpp' })).toContainText('answers, but has no model loaded')
  await expect(page.getByTestId('local-nothing')).toContainText('nothing listens there')
  const unloaded = found.filter({ hasText: 'llama.cpp' }).getByRole('button', { name: 'Add llama.cpp' })
  await expect(unloaded).toHaveAttribute('aria-disabled', 'true')

  await ready.getByRole('button', { name: 'Add LM Studio' }).click()
  const row = rowOf(page, 'lm-studio')
  await expect(row).toContainText('2 models')
  await ready.getByRole('button', { name: 'Added' }).click()
  await expect(row.getByText('Requests go out without a key.')).toBeVisible()
  await page.reload()
  await expect(ready.getByRole('button', { name: 'Added' })).toBeVisible()

  await new Promise((resolve) => studio?.close(resolve))
  await page.getByRole('button', { name: 'Look again' }).click()
  await expect(page.getByTestId('local-nothing')).toContainText('LM Studio')
  await new Promise((resolve) => llama?.close(resolve))
})
