import { observe, refusal } from './experiment.ts'
import { doc, inLab, persona, tool } from './lab.ts'
import type { LiveSession } from '../../server/session/live.ts'
import type { Experiment } from './experiment.ts'

const presets = {
  standard: doc(tool('alpha'), persona({ prefix: 'I am standard.' })),
  minimal: doc(tool('beta'), persona({ prefix: 'I am minimal.' })),
}

const selections = ({ events }: LiveSession): string[] =>
  events.flatMap((event) => (event.type === 'agent-preset/selected' ? [event.data.agentPreset] : []))

/** Switching the preset of a session (EX-16 to EX-19). */
export const switching: Experiment[] = [
  {
    id: 'EX-16',
    title: 'the three states after a blank switch',
    did: 'switched a blank session from standard to minimal',
    run: () =>
      inLab({ presets }, async (lab) => {
        const session = await lab.session()
        const answer = await lab.sessions.selectPreset(session.id, 'minimal')
        return [
          observe('select answers', answer.preset, 'minimal'),
          observe('header.agentPreset', session.header.agentPreset, 'standard'),
          observe('the agentPreset projection', session.state().preset.current, 'minimal'),
          observe('visible tools', lab.tools(session.agent.scope), ['beta']),
          observe('prompt', await lab.prompt(session), 'I am minimal.'),
          observe('starts of each tool row', lab.bench.started, { alpha: 1, beta: 1 }),
        ]
      }),
  },
  {
    id: 'EX-17',
    title: 'locked after a turn',
    did: 'ran one turn to its end, and tried to switch the idle session',
    run: () =>
      inLab({ presets }, async (lab) => {
        const session = await lab.session()
        await lab.turn(session)
        const code = await refusal(() => lab.sessions.selectPreset(session.id, 'minimal'))
        return [
          observe('status of the agent', session.agent.status, 'idle'),
          observe('refusal', code, 'agent-preset/locked'),
          observe('selections in the log', selections(session), []),
          observe('the projection', session.state().preset.current, 'standard'),
          observe('visible tools', lab.tools(session.agent.scope), ['alpha']),
        ]
      }),
  },
  {
    id: 'EX-18',
    title: 'recompose inside an open turn',
    did: 'held the model in mid-turn, called the low-level recompose, and tried the checked switch as well',
    run: () =>
      inLab({ presets }, async (lab) => {
        const session = await lab.session()
        const release = lab.bench.hold()
        await lab.sessions.prompt(session.id, 'go', 'queue')
        await lab.bench.askedTimes(1)
        const checked = await refusal(() => lab.sessions.selectPreset(session.id, 'minimal'))
        await lab.presets.recompose(session.agent.scope, 'minimal')
        const open = [session.agent.status, lab.tools(session.agent.scope), session.state().preset.current]
        release()
        await session.agent.whenIdle()
        return [
          observe('refusal of the checked switch', checked, 'agent-preset/locked'),
          observe('status, visible tools, projection after recompose', open, ['running', ['beta'], 'standard']),
          observe('selections in the log', selections(session), []),
          observe('tools that the running request had', lab.bench.asked[0]?.tools, ['alpha']),
        ]
      }),
  },
  {
    id: 'EX-19',
    title: 'selections in a row',
    did: 'asked at once for an absent preset, for minimal and for standard',
    run: () =>
      inLab({ presets }, async (lab) => {
        const session = await lab.session()
        const heard: string[] = []
        lab.host.ctx.on('agent-preset/selected', (_session, preset) => void heard.push(preset))
        const select = (preset: string) => refusal(() => lab.sessions.selectPreset(session.id, preset))
        const codes = await Promise.all(['absent', 'minimal', 'standard'].map(select))
        return [
          observe('outcomes', codes, ['agent-preset/not-found', 'no error', 'no error']),
          observe('selections in the log', selections(session), ['minimal', 'standard']),
          observe('announced', heard, ['minimal', 'standard']),
          observe('final preset', lab.presets.composedPreset(session.agent.scope), 'standard'),
          observe('visible tools', lab.tools(session.agent.scope), ['alpha']),
        ]
      }),
  },
]
