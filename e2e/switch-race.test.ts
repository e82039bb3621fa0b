import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inLab, doc, tool, type Lab } from './experiments/lab.ts'
import type { LiveSession } from '../server/session/live.ts'

const PRESETS = ['standard', 'minimal', 'third'] as const
const TOOL: Record<string, string> = { standard: 'alpha', minimal: 'beta', third: 'gamma' }

/** What two tabs do, each in its own order; `ticks` are the microtasks that pass before each act. */
const act = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('switch' as const), to: fc.constantFrom(...PRESETS, 'absent') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prompt' as const) }) },
)
const tab = fc.array(fc.record({ act, ticks: fc.nat({ max: 12 }) }), { minLength: 1, maxLength: 4 })

const codes = new Set(['agent-preset/locked', 'agent-preset/not-found'])

async function play(
  lab: Lab,
  session: LiveSession,
  steps: readonly { act: { kind: string; to?: string }; ticks: number }[],
) {
  for (const { act, ticks } of steps) {
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
    if (act.kind === 'prompt') await lab.sessions.prompt(session.id, 'go', 'queue')
    else
      await lab.sessions.selectPreset(session.id, act.to!).catch((error: { code: string }) => {
        if (!codes.has(error.code)) throw error
      })
  }
}

/** The preset by the log's own events, up to the first request. */
function agreed({ events, header }: LiveSession) {
  const first = events.findIndex(({ type }) => type === 'request/header')
  const before = events.slice(0, first)
  const selected = before.flatMap((event) => (event.type === 'agent-preset/selected' ? [event.data.agentPreset] : []))
  const request = events[first]
  if (request?.type !== 'request/header') throw new Error('no request was logged')
  const { composition, header: sent } = request.data
  return {
    logged: selected.at(-1) ?? header.agentPreset,
    bound: composition?.preset,
    tools: sent.tools?.map(({ name }) => name),
    late: events.slice(first).some(({ type }) => type === 'agent-preset/selected'),
  }
}

test(
  'H-14 a thousand interleavings of switches and prompts: the logged preset, the bound generation and the first request’s tools agree',
  { timeout: 300_000 },
  () =>
    inLab(
      { presets: { standard: doc(tool('alpha')), minimal: doc(tool('beta')), third: doc(tool('gamma')) } },
      async (lab) => {
        let switched = 0
        await fc.assert(
          fc.asyncProperty(tab, tab, async (one, other) => {
            const session = await lab.session()
            await Promise.all([play(lab, session, one), play(lab, session, other)])
            await lab.turn(session)
            const { logged, bound, tools, late } = agreed(session)
            expect({ bound, tools, late }).toEqual({ bound: logged, tools: [TOOL[logged!]], late: false })
            expect(lab.tools(session.agent)).toEqual(tools)
            expect(session.state().preset.current).toBe(logged)
            if (logged !== 'standard') switched++
            await lab.sessions.remove(session.id)
          }),
          { numRuns: 1000, endOnFailure: true },
        )
        // Neither side always wins.
        expect(switched).toBeGreaterThan(100)
        expect(switched).toBeLessThan(1000)
        expect(lab.presets.generations().map(({ users }) => users)).toEqual([0, 0, 0])
      },
    ),
)
