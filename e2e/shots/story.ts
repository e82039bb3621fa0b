import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../client.ts'
import type { Reply } from '../mock-llm/reply.ts'
import type { Mock } from '../mock-llm/server.ts'

/** What the pictures show: a small project, a bug in it, and sessions around it. */

const SPLIT = `from decimal import Decimal, ROUND_DOWN

CENT = Decimal("0.01")


def split(total: Decimal, n: int) -> list[Decimal]:
    if n < 1:
        raise ValueError(n)
    share = (total / n).quantize(CENT, ROUND_DOWN)
    return [share] * n
`

const CHECK = `#!/bin/sh
# Stands in for a test runner, so that a picture needs none.
printf '....'
if grep -q 'parts\\[0\\]' tally/split.py; then
  printf '\\033[32m...\\033[0m                                          [100%%]\\n'
  printf '\\033[32m7 passed\\033[0m in 0.29s\\n'
  exit 0
fi
printf '\\033[31mF\\033[0m..                                          [100%%]\\n'
printf "\\033[31mE   AssertionError: assert Decimal('99.99') == Decimal('100.00')\\033[0m\\n"
printf "E    +  where Decimal('99.99') = sum([Decimal('33.33'), Decimal('33.33'), Decimal('33.33')])\\n"
printf '\\033[31mFAILED\\033[0m tests/test_split.py::\\033[1mtest_split_keeps_remainder\\033[0m \\033[31m1 failed\\033[0m, 6 passed in 0.31s\\n'
exit 1
`

export function project(root: string): string {
  const work = join(root, 'code', 'tally')
  mkdirSync(join(work, 'tally'), { recursive: true })
  mkdirSync(join(work, 'tests'))
  writeFileSync(join(work, 'tally', 'split.py'), SPLIT)
  writeFileSync(join(work, 'check'), CHECK, { mode: 0o755 })
  for (const name of ['tally-docs', 'eval-harness', 'notes']) mkdirSync(join(root, 'code', name))
  return work
}

const call = (name: string, args: object): NonNullable<Reply['toolCalls']>[number] => ({
  name,
  arguments: JSON.stringify(args),
})

const usage = (input: number, cacheRead: number, output: number): Reply => ({ usage: { input, cacheRead, output } })

const fix = (work: string): Reply[] => [
  {
    reasoning: 'The parts must add up to the total. Rounding down loses cents; I look at how the shares are made.',
    text: 'I run the failing test first.',
    toolCalls: [call('bash', { command: './check tests/test_split.py', description: 'Run the test' })],
    ...usage(4100, 0, 88),
  },
  {
    toolCalls: [call('read', { file_path: join(work, 'tally/split.py') })],
    ...usage(520, 4100, 41),
  },
  {
    text: 'Each share is rounded down and nothing gives the difference back. The first share takes it:',
    toolCalls: [
      call('edit', {
        file_path: join(work, 'tally/split.py'),
        old_string: '    return [share] * n\n',
        new_string:
          '    parts = [share] * n\n    # hand out the cents that rounding down left over\n    parts[0] += total - share * n\n    return parts\n',
      }),
    ],
    ...usage(390, 4620, 164),
  },
  {
    toolCalls: [call('bash', { command: './check tests/test_split.py', description: 'Run the test again' })],
    ...usage(210, 5010, 37),
  },
  {
    text: 'The remainder is kept now: `split` adds what rounding down left over to the first share, and its public signature is unchanged.\n\n| total | n | before | after |\n|---|---|---|---|\n| 100.00 | 3 | 99.99 | **100.00** |\n| 0.05 | 2 | 0.04 | **0.05** |\n\n```python\nassert sum(split(Decimal("100"), 3)) == 100\n```\n\nNegative totals round toward zero as well, so the same line covers them.',
    ...usage(180, 5220, 142),
  },
]

const plan = (done: number) => ({
  todos: ['Find who still imports the old module', 'Move them to tally.split', 'Repeat the suite'].map(
    (content, index) => ({ content, status: index < done ? 'completed' : index === done ? 'in_progress' : 'pending' }),
  ),
})

const midturn: Reply[] = [
  {
    reasoning: 'I plan three steps.',
    text: 'Three steps; I keep the list.',
    toolCalls: [call('todo_write', plan(0)), call('grep', { pattern: 'split' })],
    ...usage(4300, 0, 120),
  },
  {
    toolCalls: [call('todo_write', plan(1)), call('bash', { command: 'ls -la tally tests' })],
    ...usage(600, 4300, 80),
  },
  {
    behavior: 'partial_stall',
    // Half of the frames are sent, then the line falls silent: the turn stays open for as long as the pictures need.
    text: 'Only `tally/split.py` uses the name. The two callers in the ledger go through `allocate`, which passes its weights on unchanged, so moving the import is enough and nothing else has to be touched. What is left is to move it and repeat the suite, and this half of the sentence never comes: it is there to be cut.',
  },
]

export interface Cast {
  finished: string
  running: string
  failed: string
  blank: string
  /** A finished session of another preset. */
  other: string
}

/** Plays the sessions, one after the other, and leaves one in the middle of a turn with two messages queued. */
export async function play(client: Client, mock: Mock, work: string): Promise<Cast> {
  const workspaceOf = async (path: string) =>
    (await client.command('workspace.add', { path, confirmed: true })).workspace.id
  const [docs, evals] = [
    await workspaceOf(join(work, '../tally-docs')),
    await workspaceOf(join(work, '../eval-harness')),
  ]
  const tally = await workspaceOf(work)
  const start = async (workspace: string, prompt: string, ...replies: Reply[]) => {
    mock.script('*', replies)
    const { session } = await client.command('session.create', { workspace, prompt, preset: 'standard' })
    await client.attach(session)
    return session
  }
  const finish = async (...args: Parameters<typeof start>) => {
    const session = await start(...args)
    await client.turnEnd(session, 1)
    return session
  }
  await finish(evals, 'Compare minimal G2 and G3', { text: 'They differ in one tool.', ...usage(3100, 0, 20) })
  await finish(evals, 'Token cost of the tool catalogs', { text: 'Counted.', ...usage(3100, 0, 20) })
  await finish(docs, 'Rewrite the rounding guide', { text: 'Rewritten.', ...usage(3100, 0, 20) })
  await finish(docs, 'Check that the code samples run', { text: 'All run.', ...usage(3100, 0, 20) })
  const failed = await finish(tally, 'Type the ledger', { behavior: 'auth_error' })
  const pinned = await finish(tally, 'Why is parse_amount slow?', { text: 'It parses twice.', ...usage(3100, 0, 20) })
  await client.command('session.pin', { session: pinned, pinned: true })
  const finished = await finish(
    tally,
    'test_split_keeps_remainder fails since the move to Decimal. Fix it, keep the public API.',
    ...fix(work),
  )
  await client.command('session.rename', { session: finished, title: 'Fix the split remainder' })
  const running = await start(tally, 'Drop the old split module, then repeat the suite', ...midturn)
  await client.until(
    (frame) => frame.t === 'delta' && frame.session === running && frame.kind === 'text' && frame.step === 3,
  )
  await client.command('session.prompt', { session: running, text: 'Also run mypy on tally/ when you are done' })
  await client.command('session.prompt', { session: running, text: 'Write the changelog line' })
  mock.script('*', [{ text: 'One tool less.', ...usage(700, 0, 20) }])
  const { session: other } = await client.command('session.create', {
    workspace: evals,
    prompt: 'What does minimal leave out?',
    preset: 'minimal',
  })
  await client.attach(other)
  await client.turnEnd(other, 1)
  const { session: blank } = await client.command('session.create', { workspace: tally, preset: 'standard' })
  return { finished, running, failed, blank, other }
}
