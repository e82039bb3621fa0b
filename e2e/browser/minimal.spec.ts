import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROMPT, SYSTEM, TOOLS } from '../minimal.literals.ts'
import { addFolder, expect, test } from './fixtures.ts'

const CASSETTE = join(import.meta.dirname, '../cassettes/minimal-web.jsonl')

test.use({
  patches: [
    `- insert:
    - { id: hostile, name: ./e2e/rows/hostile.ts }
    - { id: llm-replay, name: llm-replay, config: { cassette: '${CASSETTE}', tokens: { cwd: '{{work}}' } } }
- { id: providers, config: { live: false } }
- { id: agent-default-model, config: { provider: scripted, model: scripted-1 } }
`,
  ],
})

test('O-18 O-19 a person picks minimal, sends one prompt, and the recorded run plays with real tools', async ({
  page,
  world,
}) => {
  writeFileSync(join(world.work, 'notes.txt'), 'alpha\nbeta\n')
  await page.goto(world.server.url)
  await addFolder(page, world)
  await page.getByTestId('preset-card').filter({ hasText: 'str_replace_editor' }).click()
  await page.getByTestId('composer').fill(PROMPT)
  await page.getByTestId('composer').press('Enter')
  const transcript = page.getByTestId('transcript')
  await expect(transcript).toContainText('Directory and variable survived; the notes have two lines.')
  await expect(page.getByTestId('tool-row')).toHaveCount(3)
  await expect(page.getByTestId('preset-chip').first()).toContainText('minimal')

  const [log] = readdirSync(join(world.dataDir, 'sessions'), { recursive: true }).filter((name) =>
    String(name).endsWith('log.jsonl'),
  )
  const events = readFileSync(join(world.dataDir, 'sessions', String(log)), 'utf8')
  // Where a prompt comes from is told with what was kept out of it; nothing else may hold any of it.
  const sent = events.split('\n').filter((line) => !line.includes('"type":"request/origins"'))
  expect(sent.join('\n')).not.toContain('HOSTILE')
  const records = events
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; data: never })
  const header = records.find(({ type }) => type === 'request/header')!.data as { header: { tools: unknown } }
  expect(header.header.tools).toEqual(TOOLS)
  const system = records.find(({ type }) => type === 'system/message')!.data as {
    message: { content: { text: string }[] }
  }
  expect(system.message.content.map(({ text }) => text)).toEqual([SYSTEM])
})
