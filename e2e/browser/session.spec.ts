import { startMock, type Mock } from '../mock-llm/server.ts'
import {
  addFolder,
  begin,
  bash,
  expect,
  FAST_DEMO,
  furnish,
  keepNotices,
  mark,
  playDemo,
  say,
  shared,
  test,
} from './fixtures.ts'

/** A turn of this pace is over when it is stopped and not before. */
const ENDLESS_DEMO = '- id: llm-demo\n  config:\n    paceMs: 1000000000\n'
/** Slow enough that every word is drawn by itself, on any machine. */
const SLOW_DEMO = '- id: llm-demo\n  config:\n    paceMs: 40\n'

test.describe('a turn in words', () => {
  test.use({ patches: [SLOW_DEMO] })

  test('B85 the final message replaces the streaming text: each sentence stands once', async ({ page, world }) => {
    await playDemo(page, world)
    const text = await page.getByTestId('transcript').innerText()
    for (const sentence of ['Good. The list is done.', 'The loop assigns where it should add.'])
      expect(text.split(sentence).length - 1, sentence).toBeLessThanOrEqual(1)
  })
})

shared('B58 a reload in the middle of the stream goes on without gap or repeat', async ({ page, shop }) => {
  const words = Array.from({ length: 60 }, (_, n) => `word${n}`)
  shop.script('reload', { text: words.join(' '), gates: ['reload.middle'] })
  await begin(page, shop, 'reload')
  const transcript = page.getByTestId('transcript')
  await expect(transcript).toContainText('word20')
  await page.reload()
  await expect(transcript).toContainText('word20')
  await expect(transcript).not.toContainText('word59')
  await expect(page.getByTestId('stop')).toBeVisible()
  shop.mock.release('reload.middle')
  await expect(transcript).toContainText('word59')
  await expect(page.locator('.foot')).toBeVisible()
  expect((await transcript.innerText()).match(/word\d+/g)).toEqual(words)
})

test.describe('a turn without end', () => {
  test.use({ patches: [ENDLESS_DEMO] })

  test('B67 a message is queued, edited, survives a reload, and stop gives it back', async ({ page, world }) => {
    await page.goto(world.server.url)
    await page.getByTestId('play-demo').click()
    await expect(page.getByTestId('stop')).toBeVisible()
    await page.getByTestId('composer').fill('and then this')
    await page.getByTestId('composer').press('Enter')
    await expect(page.getByTestId('queue-row')).toContainText('and then this')
    await page.reload()
    await expect(page.getByTestId('queue-row')).toContainText('and then this')
    await page.getByTestId('composer').press('Escape')
    await expect(page.getByTestId('composer')).toHaveValue('and then this')
    await expect(page.getByTestId('queue-row')).toHaveCount(0)
    await expect(page.getByTestId('send')).toBeVisible()
  })
})

/** A world whose default model is a mock. */
const mocked = test.extend<{ mock: Mock }>({
  mock: async ({ world }, use) => {
    const mock = await startMock()
    await furnish(world.server, mock, world.work)
    await use(mock)
    await mock.close()
  },
})

mocked(
  'B61 the server dies in a run: the composer stays usable, and the session is found again',
  async ({ page, world, mock }) => {
    mock.script('dies', [
      bash('echo before'),
      { text: 'Half of this is said.', gates: ['never'] },
      { text: 'Alive again.' },
    ])
    await page.goto(world.server.url)
    await say(page, `${mark('dies')} go`)
    await expect(page.getByTestId('tool-row').first()).toBeVisible()
    await expect(page.getByTestId('stop')).toBeVisible()
    await mock.held('never')
    await page.getByTestId('composer').fill('typed while it was up')
    await world.restart('kill')
    await expect(page.getByTestId('composer')).toBeEnabled()
    await expect(page.getByTestId('composer')).toHaveValue('typed while it was up')
    await expect(page.getByTestId('transcript')).toContainText(/interrupted/i)
    await page.getByTestId('composer').press('Enter')
    await expect(page.getByTestId('transcript')).toContainText('typed while it was up')
    await expect(page.getByTestId('transcript')).toContainText('Alive again.')
  },
)

test.describe('around a session', () => {
  test.use({ patches: [FAST_DEMO] })

  test('B11 B12 moving between sessions sends no command, and the label comes from the server', async ({
    page,
    world,
  }) => {
    const commands: string[] = []
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => {
        const frame = JSON.parse(String(payload)) as { t: string; name?: string }
        if (frame.t === 'command') commands.push(frame.name!)
      }),
    )
    await playDemo(page, world)
    const first = page.url()
    const client = await world.server.connect()
    await client.command('workspace.add', { path: world.work, confirmed: true })
    await client.close()
    await page.getByTestId('new-session').click()
    await expect(page.getByTestId('composer')).toBeFocused()
    const sent = commands.length
    for (let round = 0; round < 5; round++) {
      await page.getByTestId('rail-session').first().click()
      await expect(page.getByTestId('transcript')).toBeVisible()
      await expect(page).toHaveURL(first)
      await page.getByTestId('new-session').click()
      await expect(page.getByTestId('composer')).toBeVisible()
    }
    expect(commands.slice(sent)).toEqual([])
  })

  test('B69 a draft survives a reload, per session', async ({ page, world }) => {
    await playDemo(page, world)
    await page.getByTestId('composer').fill('half a thought')
    await page.reload()
    await expect(page.getByTestId('composer')).toHaveValue('half a thought')
  })

  test('B82 Enter that ends an input-method composition does not send', async ({ page, world }) => {
    await playDemo(page, world)
    const rows = await page.getByTestId('rail-session').count()
    const composer = page.getByTestId('composer')
    await composer.focus()
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Input.imeSetComposition', { text: 'ni', selectionStart: 2, selectionEnd: 2 })
    await devtools.send('Input.dispatchKeyEvent', {
      type: 'rawKeyDown',
      key: 'Process',
      code: 'Enter',
      windowsVirtualKeyCode: 229,
    })
    await devtools.send('Input.insertText', { text: '你' })
    await expect(composer).toHaveValue('你')
    expect(await page.getByTestId('rail-session').count()).toBe(rows)
    await composer.press('Shift+Enter')
    await expect(composer).toHaveValue('你\n')
  })

  test('the preset is switched before the first turn, keeps the draft, and is locked afterwards', async ({
    page,
    world,
  }) => {
    await page.goto(world.server.url)
    await addFolder(page, world)
    await page.getByTestId('composer').fill('my draft')
    const cards = page.getByTestId('preset-card')
    await cards.filter({ hasText: 'str_replace_editor' }).click()
    await expect(page.getByTestId('composer')).toHaveValue('my draft')
    await page.getByTestId('model-chip').first().click()
    await page
      .getByRole('option', { name: /scripted/i })
      .first()
      .click()
    await page.keyboard.press('Escape')
    await page.getByTestId('composer').press('Enter')
    await expect(page.getByTestId('transcript')).toContainText('prints 12')
    await page.getByTestId('preset-chip').first().click()
    await expect(page.getByText(/first turn/i).first()).toBeVisible()
  })

  test('a deleted session can be taken back', async ({ page, world }) => {
    await keepNotices(page)
    await playDemo(page, world)
    await page.getByTestId('rail-session').first().hover()
    await page.getByTestId('rail-session').first().getByRole('button').last().click()
    await page.getByRole('menuitem', { name: /delete/i }).click()
    await expect(page.getByTestId('rail-session')).toHaveCount(0)
    await page.getByRole('button', { name: /undo/i }).click()
    await expect(page.getByTestId('rail-session')).toHaveCount(1)
  })
})
