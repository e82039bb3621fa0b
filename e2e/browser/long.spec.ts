import type { Page } from '@playwright/test'
import { newHeader, SessionStore } from '../../server/log/store.ts'
import { draft, type Draft } from '../../server/wire/events.ts'
import { newId } from '../../server/wire/ids.ts'
import type { Message } from '../../server/wire/messages.ts'
import { expect, shared as test, visit } from './fixtures.ts'

/** One step: a line of text, a thought, and a command with forty lines of output. */
function step(number: number, last: boolean): Draft[] {
  const at = { turn: 1, step: number }
  const callId = `call-${number}`
  const call = { name: 'bash', arguments: JSON.stringify({ command: `echo ${number}` }) }
  const output = Array.from({ length: 40 }, (_, line) => `line ${line} of step ${number}`).join('\n')
  const message: Message = {
    id: `a${number}`,
    role: 'assistant',
    content: [
      { type: 'reasoning', text: `I think about step ${number}. `.repeat(20) },
      { type: 'text', text: `Text of step ${number}.` },
      ...(last ? [] : [{ type: 'tool-call' as const, id: callId, ...call }]),
    ],
    source: { kind: 'model', provider: 'mock', model: 'mock-model' },
  }
  const answer = draft('assistant/message', { ...at, message, stream: [], usage: { inputTokens: 10, outputTokens: 5 } })
  if (last) return [draft('step/start', at), answer, draft('step/end', at)]
  return [
    draft('step/start', at),
    answer,
    draft('tool/call', { ...at, callId, ...call }),
    draft('tool/result', {
      ...at,
      message: {
        id: `r${number}`,
        role: 'user',
        content: [{ type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text: output }] }],
        source: { kind: 'tool', callId },
      },
    }),
    draft('step/end', at),
  ]
}

async function record(dataDir: string, cwd: string, steps: number): Promise<string> {
  const store = new SessionStore(dataDir)
  await store.prepare()
  const id = newId()
  const log = store.create(newHeader({ id, createdAt: Date.now(), writer: 'test', cwd, agentPreset: 'minimal' }))
  const said: Message = {
    id: 'u1',
    role: 'user',
    content: [{ type: 'text', text: 'The very first words.' }],
    source: { kind: 'user' },
  }
  log.append(draft('turn/start', { turn: 1 }), draft('user/message', { turn: 1, step: 1, message: said }))
  for (let number = 1; number <= steps; number++) log.append(...step(number, number === steps))
  log.append(draft('turn/end', { turn: 1, reason: { kind: 'completed' } }))
  await log.close()
  await store.close()
  return id
}

const elements = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length")

/** Milliseconds from leaving for the session until its last words stand there. */
async function opening(page: Page, id: string, last: string): Promise<number> {
  const start = Date.now()
  await page.goto(page.url().replace(/\/(new|s\/.*)$/, `/s/${id}`))
  await expect(page.getByTestId('transcript')).toContainText(last)
  return Date.now() - start
}

/** The best of five of either, in turns: a machine that is busy for a while is so for both. */
async function bestOpenings(page: Page, short: string, long: string): Promise<{ base: number; took: number }> {
  const [bases, tooks]: [number[], number[]] = [[], []]
  for (let round = 0; round < 5; round++) {
    bases.push(await opening(page, short, 'Text of step 3.'))
    tooks.push(await opening(page, long, 'Text of step 2000.'))
  }
  return { base: Math.min(...bases), took: Math.min(...tooks) }
}

/** Elements in the page, whatever the length of the session. */
const ELEMENTS = 2500

test('B28 B81 2,000 steps open within a second, and the page stays small to the very top', async ({ page, shop }) => {
  const [short, long] = [await record(shop.dataDir, shop.work, 3), await record(shop.dataDir, shop.work, 2000)]
  await visit(page, shop.server, 'new')
  await expect(page.getByTestId('composer')).toBeVisible()
  const { base, took } = await bestOpenings(page, short, long)
  // A second on a machine that opens a short session in less than a third of one; a busier one has as many times longer.
  expect(took).toBeLessThan(Math.max(1000, 3 * base))
  expect(await elements(page)).toBeLessThan(ELEMENTS)

  const transcript = page.getByTestId('transcript')
  await transcript.hover()
  await page.mouse.wheel(0, -3000)
  await expect(page.getByTestId('jump')).toBeVisible()
  let most = 0
  await expect(async () => {
    await transcript.evaluate((element) => element.scrollTo(0, 0))
    most = Math.max(most, await elements(page))
    expect(await transcript.innerText()).toContain('The very first words.')
  }).toPass({ timeout: 120_000, intervals: [20] })
  expect(most).toBeLessThan(ELEMENTS)
  await page.getByTestId('jump').click()
  await expect(transcript).toContainText('Text of step 2000.')
})

test('the place a reader scrolled to is found again after a reload', async ({ page, shop }) => {
  const id = await record(shop.dataDir, shop.work, 40)
  await visit(page, shop.server, `s/${id}`)
  const transcript = page.getByTestId('transcript')
  await expect(transcript).toContainText('Text of step 40.')
  await transcript.hover()
  await page.mouse.wheel(0, -900)
  await expect(page.getByTestId('jump')).toBeVisible()
  await expect(transcript).not.toContainText('Text of step 40.')
  // The second row of text in view stands at the same height again; the first may be cut by the edge.
  const seen = page.locator('.prose-row').filter({ hasText: /Text of step/ })
  const tops = () =>
    seen.evaluateAll((rows) => rows.map((row) => [row.textContent, Math.round(row.getBoundingClientRect().top)]))
  let last = await tops()
  await expect(async () => {
    const before = last
    last = await tops()
    expect(last).toEqual(before)
  }).toPass({ intervals: [200] })
  const before = last.filter(([, top]) => Number(top) > 100 && Number(top) < 600)
  expect(before.length).toBeGreaterThan(1)
  await page.reload()
  await expect(page.getByTestId('jump')).toBeVisible()
  await expect
    .poll(async () => {
      const now = new Map((await tops()).map(([text, top]) => [text, Number(top)]))
      return Math.max(...before.map(([text, top]) => Math.abs((now.get(text) ?? 9999) - Number(top))))
    })
    .toBeLessThan(4)
})
