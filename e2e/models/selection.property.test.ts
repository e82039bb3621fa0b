import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Selection } from '../../server/wire/messages.ts'
import { fastFolder, pass, words, World, type Say } from './interleaving.ts'

/** All seeds together; the same interleavings every time. */
const RUNS = 2_000
const SEEDS = [20_261_201, 7, 1_312, 99_991]

const A = { provider: 'route-a', model: 'model-a' }
const B = { provider: 'route-b', model: 'model-b' }
const GONE = { provider: 'route-gone', model: 'model-x' }
/** `route-b` fills in an effort where none is asked for. */
const PICKS: Selection[] = [
  A,
  B,
  { ...A, reasoningEffort: 'high' },
  { ...B, reasoningEffort: 'low' },
  { provider: 'route-a', model: 'unlisted' },
]
const REFUSED: Selection[] = [GONE, { ...A, reasoningEffort: 'extreme' }, { provider: 'route-b', model: ' ' }]
const DEFAULTS: Selection[] = [A, B, { ...B, reasoningEffort: 'high' }, GONE]

type Act =
  | { kind: 'pick'; selection: Selection; alsoDefault: boolean }
  | { kind: 'default'; selection: Selection }
  | { kind: 'prompt'; mode: 'queue' | 'steer' }
  | { kind: 'cancel' }

const picks = fc.record({
  kind: fc.constant('pick' as const),
  selection: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...PICKS) },
    { weight: 1, arbitrary: fc.constantFrom(...REFUSED) },
  ),
  alsoDefault: fc.boolean(),
})
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: picks },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('default' as const), selection: fc.constantFrom(...DEFAULTS) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('prompt' as const),
      mode: fc.constantFrom('queue' as const, 'steer' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const) }) },
)
const tab = fc.array(fc.record({ act, ticks: fc.nat({ max: 20 }) }), { maxLength: 3 })
const round = fc.record({ one: tab, other: tab, afterwards: fc.constantFrom('go on', 'rest', 'restart') })
const say: fc.Arbitrary<Say> = fc.record({
  how: fc.constantFrom('text', 'text', 'tool', 'busy', 'refused'),
  ticks: fc.nat({ max: 12 }),
})
const plan = fc.record({
  rounds: fc.array(round, { minLength: 1, maxLength: 3 }),
  answers: fc.array(say, { maxLength: 8 }),
})
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never

async function play(world: World, steps: readonly { act: Act; ticks: number }[]): Promise<void> {
  for (const { act, ticks } of steps) {
    await pass(ticks)
    await perform(world, act)
  }
}

async function perform({ sessions, fallback, id }: World, act: Act): Promise<void> {
  switch (act.kind) {
    case 'pick': {
      const refused = REFUSED.includes(act.selection)
      const code = await sessions.selectModel(id, act.selection, act.alsoDefault).then(
        () => 'taken',
        (error: { code: string }) => error.code,
      )
      expect(code).toBe(refused ? 'session/model-unavailable' : 'taken')
      return
    }
    case 'default':
      return fallback.saveSelection(act.selection)
    case 'prompt':
      return void (await sessions.prompt(id, 'go', act.mode))
    case 'cancel':
      return void (await sessions.stop(id))
  }
}

/** What was seen over all runs, so that a property that never gets anywhere does not pass. */
const seen = { requests: 0, restarts: 0, changes: 0, gone: 0 }

async function interleave(root: string, { rounds, answers }: Plan): Promise<void> {
  const world = await World.start(root, answers)
  try {
    for (const { one, other, afterwards } of rounds) {
      await Promise.all([play(world, one), play(world, other)])
      if (afterwards === 'rest') await world.rest()
      if (afterwards !== 'restart') continue
      await world.restart()
      seen.restarts++
    }
    await world.rest()
    await nextRequest(world)
    expect(world.wrong).toEqual([])
    seen.requests += world.used.length
    seen.changes += world.used.filter((each, at) => at > 0 && words(each) !== words(world.used[at - 1])).length
  } finally {
    await world.end()
  }
}

/** Everyone shows the same, also who comes only now; the next request uses it, and afterwards it is still shown. */
async function nextRequest(world: World): Promise<void> {
  const pages = [...world.pages, await world.fresh()]
  const shown = pages.map((page) => words(page.shown))
  expect(new Set(shown).size).toBe(1)
  const before = world.used.length
  await world.sessions.prompt(world.id, 'last', 'queue')
  await world.rest()
  if (shown[0] === words(GONE)) {
    seen.gone++
    expect(world.used).toHaveLength(before)
    return
  }
  const used = world.used.slice(before).map(words)
  expect(used.length).toBeGreaterThan(0)
  expect(new Set(used)).toEqual(new Set([shown[0]]))
  expect(world.pages.map((page) => words(page.shown))).toEqual([shown[0], shown[0]])
}

const folder = fastFolder()
afterAll(() => folder.remove())

test.each(SEEDS)(
  `of ${RUNS} interleavings of picks, defaults, prompts, cancels and restarts (seed %i): prompt, route, logged header and every page agree`,
  { timeout: 300_000 },
  async (seed) => {
    await fc.assert(
      fc.asyncProperty(plan, (plan) => interleave(folder.path, plan)),
      { numRuns: RUNS / SEEDS.length, seed, endOnFailure: true },
    )
  },
)

test('the interleavings got somewhere: requests, changes of model, restarts, and defaults that are gone', () => {
  expect(seen.requests).toBeGreaterThan(RUNS)
  expect(seen.changes).toBeGreaterThan(RUNS / 10)
  expect(seen.restarts).toBeGreaterThan(RUNS / 10)
  expect(seen.gone).toBeGreaterThan(0)
})
