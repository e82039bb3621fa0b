import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { ProbeVerdict } from '../../server/wire/models.ts'
import type { Reply } from '../mock-llm/reply.ts'
import { startMock } from '../mock-llm/server.ts'
import { expect, say, test, visit } from './fixtures.ts'
import { addRoute, openRow, rowOf, saveSection, section, testRow } from './settings-screen.ts'

const KEY = 'sk-never-shown-1234567890'
const chat = (baseURL: string) => ({ label: 'Lab', wire: 'chat', baseURL }) as const

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('a shipped provider goes to another address, says that it is changed, and goes back to what is shipped', async ({
  page,
  world,
}) => {
  const row = await openRow(page, world, 'deepseek')
  const url = row.getByLabel('Base URL')
  const shipped = await url.inputValue()
  await expect(row.getByLabel('Wire format')).toHaveCount(0)
  await url.fill('nowhere')
  await expect(row.getByRole('alert')).toContainText('begins with http')
  await url.fill('http://127.0.0.1:9/v1')
  await row.getByRole('button', { name: 'Save' }).first().click()
  await expect(row.getByText('Differs from what is shipped.')).toBeVisible()
  await page.reload()
  await expect(url).toHaveValue('http://127.0.0.1:9/v1')
  await row.getByRole('button', { name: 'Back to shipped' }).click()
  await expect(url).toHaveValue(shipped)
  await expect(row.getByText('changed', { exact: true })).toHaveCount(0)
})

test('each way in which a connection fails has a verdict and a next step of its own', async ({ page, world }) => {
  const mock = await startMock()
  const ways: { verdict: ProbeVerdict; url: string; reply?: Reply; options?: { firstByteMs: number } }[] = [
    { verdict: 'works', url: `${mock.url}/v1`, reply: { text: 'pong' } },
    { verdict: 'auth', url: `${mock.url}/v1`, reply: { behavior: 'auth_error' } },
    { verdict: 'quota', url: `${mock.url}/v1`, reply: { behavior: 'quota_exceeded' } },
    { verdict: 'model', url: `${mock.url}/v1`, reply: { behavior: 'unknown_model' } },
    { verdict: 'not-an-api', url: `${mock.url}/v1`, reply: { behavior: 'html_200' } },
    { verdict: 'refused', url: `http://127.0.0.1:${await closedPort()}/v1` },
    { verdict: 'dns', url: 'http://no-such-host.invalid/v1' },
    { verdict: 'timeout', url: `${mock.url}/v1`, reply: { behavior: 'stall' }, options: { firstByteMs: 300 } },
  ]
  const said = new Set<string>()
  for (const [index, { verdict, url, reply, options }] of ways.entries()) {
    const id = `way-${index}`
    await addRoute(world, { id, ...chat(url), key: 'none', ...(options && { options }) })
    if (reply) mock.script('*', [reply])
    const row = await openRow(page, world, id)
    await row.getByLabel('Model to test with').fill('mock-model')
    await testRow(row, verdict)
    const tag = await row.getByTestId('probe').innerText()
    said.add(tag)
    await expect(row.locator('.probe')).toContainText(url)
    if (verdict === 'works') continue
    await row.locator('.pv-open').click()
    await expect(row.locator('.pv-say')).toContainText(tag)
  }
  expect(said.size).toBe(ways.length)
  await mock.close()
})

test('the fix stands beside a problem: a refused key leads to the key field', async ({ page, world }) => {
  const mock = await startMock()
  await addRoute(world, { id: 'lab', ...chat(`${mock.url}/v1`), key: 'stored' }, 'sk-wrong-key')
  const row = await openRow(page, world, 'lab')
  mock.script('*', [{ behavior: 'auth_error' }, { text: 'pong' }])
  await testRow(row, 'auth')
  await row.locator('.pv-open').click()
  await row.getByRole('button', { name: 'Replace key' }).click()
  await expect(row.getByTestId('key-input')).toBeFocused()
  await row.getByTestId('key-input').fill(KEY)
  await row.getByTestId('key-input').press('Enter')
  await expect(row.getByTestId('key-input')).toHaveCount(0)
  await testRow(row, 'works')
  await expect(row.locator('.probe')).toContainText(`[key, ${KEY.length} characters]`)
  expect(await page.content()).not.toContain(KEY)
  await mock.close()
})

test('what is set under More goes out with the next request, and says when it is wrong without losing the text', async ({
  page,
  world,
}) => {
  const mock = await startMock()
  await addRoute(world, { id: 'lab', ...chat(`${mock.url}/v1`), key: 'stored' }, KEY)
  const client = await world.server.connect()
  await client.command('workspace.add', { path: world.work, confirmed: true })
  await client.command('model.default', { provider: 'lab', model: 'mock-model' })
  await client.close()
  const row = await openRow(page, world, 'lab')

  const headers = await section(row, 'headers')
  await headers.getByRole('button', { name: 'Add header' }).click()
  await headers.getByLabel('Name').fill('Authorization')
  await headers.getByLabel('Value').fill('Bearer in plain text')
  await headers.getByRole('button', { name: 'Save' }).click()
  await expect(headers.getByRole('alert')).toContainText('provider/invalid')
  await expect(headers.getByRole('alert')).toContainText('{{key}}')
  await expect(headers.getByLabel('Value')).toHaveValue('Bearer in plain text')
  await headers.getByLabel('Name').fill('x-lab')
  await headers.getByLabel('Value').fill('team {{key}}')
  await saveSection(headers)
  await expect(headers.getByRole('alert')).toHaveCount(0)

  const body = await section(row, 'body')
  await body.getByLabel('JSON').fill('{\n  "seed": 7,\n  "top_k": x\n}')
  await expect(body.getByRole('alert')).toContainText('Line 3')
  await body.getByLabel('JSON').fill('{ "seed": 7 }')
  await saveSection(body)

  const odd = await section(row, 'switches')
  await odd.getByRole('switch', { name: 'Ask for token counts' }).click()
  await saveSection(odd)
  await expect(row.getByTestId('more')).toContainText('3 set')

  await visit(page, world.server, 'new')
  mock.script('*', [{ text: 'Here.' }])
  await say(page, 'hello')
  await expect(page.getByTestId('transcript')).toContainText('Here.')
  const request = mock.requests.at(-1)!
  expect(request.headers['x-lab']).toBe(`team ${KEY}`)
  // A header that names the key takes the place of the usual one.
  expect(request.headers).not.toHaveProperty('authorization')
  expect(request.body).toMatchObject({ seed: 7, model: 'mock-model' })
  expect(request.body).not.toHaveProperty('stream_options')

  await world.restart()
  await openRow(page, world, 'lab')
  await section(row, 'headers')
  await expect(headers.getByLabel('Value')).toHaveValue('team {{key}}')
  await mock.close()
})

test('waits, retries and proxy show what is in force, take a value and give it back', async ({ page, world }) => {
  await addRoute(world, { id: 'lab', ...chat('http://127.0.0.1:9/v1'), key: 'none' })
  const row = await openRow(page, world, 'lab')
  const waits = await section(row, 'waits')
  await expect(waits.getByLabel('Silence inside an answer')).toHaveAttribute('placeholder', /^\d+$/)
  await waits.getByLabel('Silence inside an answer').fill('soon')
  await expect(waits.getByRole('alert')).toContainText('Seconds')
  await waits.getByLabel('Silence inside an answer').fill('1.5')
  await saveSection(waits)

  const retry = await section(row, 'retry')
  await retry.getByRole('radio', { name: 'until it works' }).click()
  await retry.getByLabel('Tries at most').fill('50')
  await saveSection(retry)
  const proxy = await section(row, 'proxy')
  await proxy.getByRole('radio', { name: 'none' }).click()
  await saveSection(proxy)
  await page.reload()
  await section(row, 'waits')
  await expect(waits.getByLabel('Silence inside an answer')).toHaveValue('1.5')
  await expect(retry.getByLabel('Tries at most')).toHaveValue('50')
  await expect(proxy.getByRole('radio', { name: 'none' })).toBeChecked()
  await retry.getByRole('radio', { name: 'try again' }).click()
  await retry.getByLabel('Tries at most').fill('')
  await saveSection(retry)
  await expect(row.getByTestId('more')).toContainText('2 set')
})

test('facts of a model are corrected, marked, and taken back; a link leads to its price', async ({ page, world }) => {
  const mock = await startMock({ models: ['lab-1', 'lab-2'] })
  await addRoute(world, { id: 'lab', ...chat(`${mock.url}/v1`), key: 'none' })
  await visit(page, world.server, 'settings/models?provider=lab&model=lab-2')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('lab-2')
  await dialog.getByRole('textbox', { name: /^In\b/ }).fill('0.5')
  await expect(dialog.getByRole('alert')).toContainText('both in and out')
  await dialog.getByRole('textbox', { name: /^Out\b/ }).fill('2')
  await dialog.getByLabel('Context window').fill('128 000')
  await dialog.getByRole('radio', { name: 'text and images' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toHaveCount(0)
  const model = rowOf(page, 'lab').locator('[data-model=lab-2]')
  await expect(model).toContainText('edited')
  await expect(model).toContainText('128k')
  await expect(model).toContainText('text, image')
  await expect(model).toContainText('$0.5 in, $2 out')
  await page.reload()
  await expect(model).toContainText('edited')
  await expect(rowOf(page, 'lab').locator('[data-model=lab-1]')).not.toContainText('edited')
  await model.getByRole('button', { name: 'Correct the facts of lab-2' }).click()
  await expect(dialog.getByRole('textbox', { name: /^Out\b/ })).toHaveValue('2')
  await dialog.getByRole('button', { name: 'Take all back' }).click()
  await expect(model).not.toContainText('edited')
  await mock.close()
})

test('a key from the environment is named, never shown, and its absence says what to do', async ({ page, world }) => {
  await addRoute(world, { id: 'lab', ...chat('http://127.0.0.1:9/v1'), key: 'env:LAB_KEY_OF_NOBODY' })
  const row = await openRow(page, world, 'lab')
  await expect(row.getByLabel('Environment variable')).toHaveValue('LAB_KEY_OF_NOBODY')
  await expect(row.getByRole('alert')).toContainText('is not set')
  await row.getByLabel('Environment variable').fill('1st')
  await expect(row.getByRole('alert')).toContainText('letters, digits and underscores')
  await row.getByLabel('Environment variable').fill('HOME')
  await row.getByRole('button', { name: 'Save' }).click()
  await expect(row.getByText('Read from the server')).toBeVisible()
  await row.getByRole('radio', { name: 'none needed' }).click()
  await expect(row.getByText('Requests go out without a key.')).toBeVisible()
})

test('a route that the settings file spoils says so in its row, with file and key; the others go on', async ({
  page,
  world,
}) => {
  writeFileSync(
    `${world.dataDir}/user.cordis.yml`,
    '- id: providers\n  config:\n    routes:\n      spoilt: { label: Spoilt, wire: chat, baseURL: nowhere }\n',
  )
  await world.restart()
  await visit(page, world.server, 'settings/models')
  const row = rowOf(page, 'spoilt')
  await expect(row).toContainText('user.cordis.yml')
  await expect(row).toContainText('baseURL')
  await expect(rowOf(page, 'deepseek')).toContainText('no key')
})

test('while the server is away, a test cannot be started and says why; what is typed stays', async ({
  page,
  world,
}) => {
  await addRoute(world, { id: 'lab', ...chat('http://127.0.0.1:9/v1'), key: 'none' })
  const row = await openRow(page, world, 'lab')
  await row.getByLabel('Name').fill('Lab of tomorrow')
  await world.server.kill()
  const start = row.getByRole('button', { name: 'Test connection' })
  await expect(start).toHaveAttribute('aria-disabled', 'true')
  await start.hover({ force: true })
  await expect(page.getByRole('tooltip')).toContainText('not answering')
  await world.restart()
  await expect(start).not.toHaveAttribute('aria-disabled')
  await expect(row.getByLabel('Name')).toHaveValue('Lab of tomorrow')
  await row.getByRole('button', { name: 'Save' }).first().click()
  await expect(row).toContainText('Lab of tomorrow')
  await expect(row.getByRole('button', { name: 'Save' })).toHaveCount(0)
})
