import { observe, refusal } from './experiment.ts'
import { doc, inLab, tool } from './lab.ts'
import type { Experiment } from './experiment.ts'

const presets = {
  standard: doc(tool('alpha')),
  minimal: doc(tool('beta')),
  other: doc(tool('gamma')),
}

/** Which preset a session gets (EX-01 to EX-06). */
export const choosing: Experiment[] = [
  {
    id: 'EX-01',
    title: 'the deployment default',
    did: 'made a session without naming a preset, on a host whose registry row says `default: standard`',
    run: () =>
      inLab({ presets }, async (lab) => {
        const session = await lab.session()
        return [
          observe('resolve()', await lab.presets.resolve(), { id: 'standard' }),
          observe('header.agentPreset', session.header.agentPreset, 'standard'),
          observe('visible tools', lab.tools(session.agent.scope), ['alpha']),
        ]
      }),
  },
  {
    id: 'EX-02',
    title: 'the user default',
    did: 'set `selectedDefault: minimal` in the running registry row, made a session, and took the key out again',
    run: () =>
      inLab({ presets }, async (lab) => {
        const before = await lab.session()
        await lab.change({ registry: { selectedDefault: 'minimal' } })
        const during = await lab.session()
        await lab.change({ registry: {} })
        const after = await lab.session()
        const presetOf = [before, during, after].map(({ header }) => header.agentPreset)
        return [
          observe('presets of the sessions before, during, after', presetOf, ['standard', 'minimal', 'standard']),
          observe('tools of the session made before', lab.tools(before.agent.scope), ['alpha']),
          observe('tools of the session made during', lab.tools(during.agent.scope), ['beta']),
        ]
      }),
  },
  {
    id: 'EX-03',
    title: 'an explicit preset',
    did: 'named `other` on a host with both a deployment and a user default',
    run: () =>
      inLab({ presets, registry: { selectedDefault: 'minimal' } }, async (lab) => {
        const session = await lab.session({ preset: 'other' })
        return [
          observe('resolve("other")', await lab.presets.resolve('other'), { id: 'other' }),
          observe('header.agentPreset', session.header.agentPreset, 'other'),
          observe('visible tools', lab.tools(session.agent.scope), ['gamma']),
          observe('what a caller without a name gets', await lab.presets.resolve(), { id: 'minimal' }),
        ]
      }),
  },
  {
    id: 'EX-04',
    title: 'the empty string',
    did: 'named the preset `""`, with both defaults set',
    run: () =>
      inLab({ presets, registry: { selectedDefault: 'minimal' } }, async (lab) => {
        const error = await lab.presets.resolve('').then(
          () => undefined,
          (reason: unknown) => reason as { code: string; details: unknown },
        )
        return [
          observe('refusal of resolve("")', error?.code, 'agent-preset/not-found'),
          observe('its details', error?.details, { agentPreset: '', available: ['minimal', 'other', 'standard'] }),
          observe('refusal of a session', await refusal(() => lab.session({ preset: '' })), 'agent-preset/not-found'),
          observe('agents', lab.service('agents').list().length, 0),
        ]
      }),
  },
  {
    id: 'EX-05',
    title: 'an unknown id',
    did: 'named a preset that nobody declared, by every way of naming one',
    run: () =>
      inLab({ presets }, async (lab) => {
        const session = await lab.session()
        const ways = {
          resolve: () => lab.presets.resolve('absent'),
          mount: () => lab.presets.mount({}, 'absent'),
          acquireScope: () => lab.presets.acquireScope('absent'),
          readDocument: () => lab.presets.readDocument('absent'),
          select: () => lab.sessions.selectPreset(session.id, 'absent'),
          create: () => lab.session({ preset: 'absent' }),
        }
        const codes = await Promise.all(Object.values(ways).map(refusal))
        return [
          observe(
            `refusals of ${Object.keys(ways).join(', ')}`,
            codes,
            codes.map(() => 'agent-preset/not-found'),
          ),
          observe('agents', lab.service('agents').list().length, 1),
          observe('preset of the session that tried', session.state().preset.current, 'standard'),
        ]
      }),
  },
  {
    id: 'EX-06',
    title: 'broken beside healthy',
    did: 'declared a preset whose only row throws, made it the user default, and used it and a healthy one',
    run: () =>
      inLab(
        {
          presets: { ...presets, broken: doc('- {id: bad, name: synthetic-thrower}') },
          registry: { selectedDefault: 'broken' },
        },
        async (lab) => {
          const reason = 'bad (synthetic-thrower): the synthetic row gives up'
          const rows = lab.presets.list().map(({ id, broken }) => [id, broken])
          const healthy = await lab.session({ preset: 'minimal' })
          return [
            observe('roster', rows, [
              ['broken', reason],
              ['minimal', undefined],
              ['other', undefined],
              ['standard', undefined],
            ]),
            observe('resolve()', await lab.presets.resolve(), { id: 'broken', broken: reason }),
            observe('refusal of retain()', await refusal(() => lab.presets.retain()), 'agent-preset/invalid'),
            observe('refusal of a session', await refusal(() => lab.session()), 'agent-preset/invalid'),
            observe('tools of a session on minimal', lab.tools(healthy.agent.scope), ['beta']),
          ]
        },
      ),
  },
]
