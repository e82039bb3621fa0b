import { observe, refusal } from './experiment.ts'
import { doc, inLab, tool } from './lab.ts'
import type { Experiment } from './experiment.ts'

const LATE_HOST = '- {id: late, name: synthetic-late}\n'

/** What the audit of a mounted tree finds (EX-07 to EX-09). */
export const health: Experiment[] = [
  {
    id: 'EX-07',
    title: 'a service that comes late',
    did: 'declared a preset with a row that waits for a service, asked, added the host row that provides it, asked again',
    run: () =>
      inLab({ presets: { standard: doc(tool('alpha'), '- {id: needs, name: synthetic-waiting}') } }, async (lab) => {
        const reason = 'needs (synthetic-waiting): waiting for exampleLateService'
        const first = await lab.presets.resolve('standard')
        const refused = await refusal(() => lab.session())
        const mounted = lab.revisions()
        await lab.change({ rows: LATE_HOST })
        const second = await lab.presets.resolve('standard')
        const session = await lab.session()
        return [
          observe('first resolve', first, { id: 'standard', broken: reason }),
          observe('refusal of a session meanwhile', refused, 'agent-preset/invalid'),
          observe('mounted meanwhile', mounted, ['standard']),
          observe('resolve once the service is there', second, { id: 'standard' }),
          observe('starts of its tool row', lab.bench.started['alpha'], 1),
          observe('visible tools', lab.tools(session.agent.scope), ['alpha']),
        ]
      }),
  },
  {
    id: 'EX-08',
    title: 'a service provided into the root',
    did: 'declared a preset whose row provides a service without a realm of its own',
    run: () =>
      inLab(
        { presets: { standard: doc(tool('alpha'), '- {id: giver, name: synthetic-provider}'), minimal: doc() } },
        async (lab) => {
          const [, leaking] = lab.presets.list()
          return [
            observe('id', leaking?.id, 'standard'),
            observe(
              'it is broken by a leak of',
              /syntheticService/.exec(leaking?.broken ?? '')?.[0],
              'syntheticService',
            ),
            observe('refusal of a session', await refusal(() => lab.session()), 'agent-preset/invalid'),
            observe('the service as the root sees it', lab.host.service('syntheticService'), undefined),
            observe('mounted revisions', lab.revisions(), ['minimal']),
          ]
        },
      ),
  },
  {
    id: 'EX-09',
    title: 'the same service in a realm',
    did: 'put that row into a group with `isolate: {syntheticService: true}` and looked the service up per agent',
    run: () => {
      const group = [
        '- id: realm',
        '  name: cordis:group',
        '  group: true',
        '  isolate: {syntheticService: true}',
        '  config:',
        '    - {id: giver, name: synthetic-provider}',
      ].join('\n')
      return inLab({ presets: { standard: doc(group), minimal: doc(tool('beta')) } }, async (lab) => {
        const inside = await lab.session()
        const outside = await lab.session({ preset: 'minimal' })
        const serviceOf = (session: typeof inside, name: string) => lab.presets.serviceFor(session.agent.scope, name)
        const found = serviceOf(inside, 'syntheticService') as { from: string } | undefined
        return [
          observe('resolve', await lab.presets.resolve('standard'), { id: 'standard' }),
          observe('serviceFor its agent comes from the row', found?.from, 'giver'),
          observe('serviceFor an agent of another preset', serviceOf(outside, 'syntheticService'), undefined),
          observe('serviceFor a service of the host', serviceOf(inside, 'llm'), undefined),
          observe('the service as the root sees it', lab.host.service('syntheticService'), undefined),
        ]
      })
    },
  },
]
