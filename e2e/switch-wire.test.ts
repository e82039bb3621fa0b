import fc from 'fast-check'
import { setImmediate as nextRound } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Client } from './client.ts'
import { documentOf, Presets } from './presets.fixture.ts'
import { Puppet } from './puppet.ts'

/** Each preset's tools differ, so that a request shows which one it was made in. */
const TOOLS: Record<string, string[]> = { standard: [], minimal: ['bash', 'str_replace_editor'], mine: ['todo_write'] }
const RUNS = 200
/** Of the interleavings: the same ones every time. */
const SEED = 20_261_201

let lab: Presets
let tabs: [Client, Client]
/** Rounds of the event loop that finding a preset takes, as while it is still being diagnosed: frames come in meanwhile. */
let rounds = 0
beforeAll(async () => {
  lab = await Presets.start({ mine: documentOf('mine', '- {id: todo, name: tool-todo}') })
  const puppet = new Puppet()
  lab.host.host.service('llm')!.add(puppet.route)
  tabs = [lab.client, await lab.host.connect()]
  const answerAll = async (): Promise<void> => {
    for (;;) (await puppet.next()).say('ok').finish()
  }
  void answerAll()
  const standard = lab.row('standard')!.tools.map(({ name }) => name)
  TOOLS['standard'] = standard
  const { registry } = lab.host.host.service('agentPresets')!
  const retain = registry.retain.bind(registry)
  vi.spyOn(registry, 'retain').mockImplementation(async (...args) => {
    for (let round = 0; round < rounds; round++) await nextRound()
    return retain(...args)
  })
}, 60_000)
afterAll(() => lab?.host.remove())

type Step = { to: string } | 'prompt'
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ to: fc.constantFrom('standard', 'minimal', 'mine', 'absent') }) },
  { weight: 1, arbitrary: fc.constant('prompt' as const) },
)
/** `together` sends a step without waiting for the answer to the one before. */
const plan = fc.array(fc.record({ step, together: fc.boolean() }), { minLength: 1, maxLength: 4 })

const REFUSED = new Set(['agent-preset/locked', 'agent-preset/not-found'])

async function play(tab: Client, session: string, steps: readonly { step: Step; together: boolean }[]): Promise<void> {
  const answers: Promise<unknown>[] = []
  for (const { step: act, together } of steps) {
    const answer =
      act === 'prompt'
        ? tab.command('session.prompt', { session, text: 'go' })
        : tab.command('preset.select', { session, preset: act.to }).catch((error: { code: string }) => {
            if (!REFUSED.has(error.code)) throw error
          })
    answers.push(answer)
    if (!together) await answer
  }
  await Promise.all(answers)
}

test(
  `H-13 ${RUNS} switches of two tabs against prompts, over the wire: log, binding and tools of the first request agree`,
  { timeout: 300_000 },
  async () => {
    let moved = 0
    await fc.assert(
      fc.asyncProperty(plan, plan, fc.nat({ max: 60 }), async (one, other, slow) => {
        rounds = 0
        const args = { workspace: lab.workspace, selection: { ...Puppet.selection, alsoDefault: false } }
        const { session } = await tabs[0].command('session.create', { ...args, preset: 'standard' })
        for (const tab of tabs) await tab.attach(session)
        rounds = slow
        await Promise.all([play(tabs[0], session, one), play(tabs[1], session, other)])
        // Behind whatever was queued: the session has a request in any case.
        const { message } = await tabs[0].command('session.prompt', { session, text: 'last' })
        const taken = await tabs[0].event(session, 'user/message', ({ data }) => data.message.id === message)
        await tabs[0].turnEnd(session, taken.data.turn!)

        const views = await Promise.all(tabs.map((tab) => tab.attach(session)))
        const [mine, theirs] = views.map((view) => ({
          preset: view.t === 'snapshot' ? view.state.preset.current : null,
          composition: view.composition,
          events: view.events,
        }))
        expect(theirs).toEqual(mine)
        const { events } = mine!
        const first = events.findIndex(({ type }) => type === 'request/header')
        const request = events[first]
        if (request?.type !== 'request/header') throw new Error('no request was logged')
        const selected = events.flatMap((event, at) =>
          event.type === 'agent-preset/selected' ? [{ at, preset: event.data.agentPreset }] : [],
        )
        const logged = selected.at(-1)?.preset ?? 'standard'
        expect(selected.every(({ at }) => at < first)).toBe(true)
        expect([mine!.preset, mine!.composition?.preset, request.data.composition?.preset]).toEqual(
          Array(3).fill(logged),
        )
        expect(request.data.header.tools?.map(({ name }) => name) ?? []).toEqual(TOOLS[logged])
        if (logged !== 'standard') moved++
        for (const tab of tabs) {
          tab.send({ t: 'detach', session })
          tab.frames.length = 0
        }
        await tabs[0].command('session.delete', { session })
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    )
    // Neither side always wins.
    expect(moved).toBeGreaterThan(RUNS / 10)
    expect(moved).toBeLessThan(RUNS)
  },
)

test('H-02 a prompt sent behind a switch waits for it and is answered in the new preset; a switch behind a prompt is refused', async () => {
  rounds = 60
  const [tab] = tabs
  const args = { workspace: lab.workspace, selection: { ...Puppet.selection, alsoDefault: false }, preset: 'standard' }
  const { session } = await tab.command('session.create', args)
  await tab.attach(session)
  const answers = await Promise.allSettled([
    tab.command('preset.select', { session, preset: 'mine' }),
    tab.command('session.prompt', { session, text: 'go' }),
    tab.turnEnd(session, 1).then(() => tab.command('preset.select', { session, preset: 'minimal' })),
  ])
  expect(answers).toMatchObject([
    { status: 'fulfilled', value: { preset: 'mine' } },
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'agent-preset/locked' } },
  ])
  const { data } = await tab.event(session, 'request/header')
  expect([data.composition?.preset, data.header.tools?.map(({ name }) => name)]).toEqual(['mine', TOOLS['mine']])
})
