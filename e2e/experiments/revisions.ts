import { newHeader } from '../../server/log/store.ts'
import { observe } from './experiment.ts'
import { doc, inLab, persona, tool } from './lab.ts'
import type { Agent } from '../../server/agent/agent.ts'
import type { AgentHandle } from '../../server/agent/registry.ts'
import type { Experiment } from './experiment.ts'
import type { Lab } from './lab.ts'

const G1 = doc(tool('old'), persona({ prefix: 'I am the first revision.' }))
const G2 = doc(tool('new'), persona({ prefix: 'I am the second revision.' }))

/** An agent that was delegated to: composed from its parent's exact revision, in its setup. */
function delegate(
  lab: Lab,
  parent: Agent,
  id: string,
  joined: (preset: string | undefined) => void,
): Promise<AgentHandle> {
  const log = lab.service('sessionStore').create(newHeader({ id, createdAt: 1, cwd: parent.cwd, writer: 'experiment' }))
  const setup = (agent: Agent): void => joined(lab.presets.composeFrom(agent.scope, parent.scope))
  return lab.service('agents').create({ id, log, parent, options: { cwd: parent.cwd }, setup })
}

/** Sharing, replacing and letting go of mounted revisions (EX-10 to EX-13). */
export const revisions: Experiment[] = [
  {
    id: 'EX-10',
    title: 'three agents share two presets',
    did: 'made three sessions, two on standard and one on minimal',
    run: () =>
      inLab({ presets: { standard: doc(tool('alpha')), minimal: doc(tool('beta')) } }, async (lab) => {
        const sessions = [
          await lab.session({ preset: 'standard' }),
          await lab.session({ preset: 'standard' }),
          await lab.session({ preset: 'minimal' }),
        ]
        return [
          observe(
            'tools of the three',
            sessions.map(({ agent }) => lab.tools(agent.scope)),
            [['alpha'], ['alpha'], ['beta']],
          ),
          observe('tools of the root', lab.tools(null), []),
          observe('mounted revisions', lab.revisions(), ['minimal', 'standard']),
          observe('starts of each tool row', lab.bench.started, { alpha: 1, beta: 1 }),
        ]
      }),
  },
  {
    id: 'EX-11',
    title: 'a declaration replaced while in use',
    did: 'rewrote the document of standard under a living session and made another one',
    run: () =>
      inLab({ presets: { standard: G1 } }, async (lab) => {
        const old = await lab.session()
        await lab.declare('standard', G2)
        const young = await lab.session()
        return [
          observe('tools of the old session', lab.tools(old.agent.scope), ['old']),
          observe('prompt of the old session', await lab.prompt(old), 'I am the first revision.'),
          observe('tools of the new session', lab.tools(young.agent.scope), ['new']),
          observe('prompt of the new session', await lab.prompt(young), 'I am the second revision.'),
          observe(
            'declarations',
            lab.presets.list().map(({ id }) => id),
            ['standard'],
          ),
          observe('mounted revisions', lab.revisions(), ['standard', 'standard']),
        ]
      }),
  },
  {
    id: 'EX-12',
    title: 'composeFrom joins the exact revision',
    did: 'replaced standard, then composed a child from the session that still used the first revision',
    run: () =>
      inLab({ presets: { standard: G1 } }, async (lab) => {
        const parent = await lab.session()
        await lab.declare('standard', G2)
        let joined: string | undefined
        const child = await delegate(lab, parent.agent, 'child', (preset) => (joined = preset))
        const orphan = lab.presets.composeFrom({}, {})
        const seen = lab.tools(child.agent.scope)
        await child.dispose()
        return [
          observe('composeFrom answers', joined, 'standard'),
          observe('tools of the child', seen, ['old']),
          observe('composeFrom a parent without a preset', orphan, undefined),
          observe('mounted revisions', lab.revisions(), ['standard', 'standard']),
        ]
      }),
  },
  {
    id: 'EX-13',
    title: 'the order of letting go, and a lease released twice',
    did: 'let a parent, then its child go after a replacement; then took two leases, withdrew, and released the first twice',
    run: () =>
      inLab({ presets: { standard: G1 } }, async (lab) => {
        const parent = await lab.session()
        await lab.declare('standard', G2)
        const child = await delegate(lab, parent.agent, 'child', () => {})
        const steps = [lab.revisions().length]
        await parent.dispose()
        steps.push(lab.revisions().length)
        await child.dispose()
        await lab.presets.settled()
        steps.push(lab.revisions().length)
        const first = await lab.presets.acquireScope('standard')
        const second = await lab.presets.acquireScope('standard')
        await lab.withdraw('standard')
        const leased = [lab.presets.list().length, lab.revisions().length, lab.tools(first.key).length]
        await first[Symbol.asyncDispose]()
        await first[Symbol.asyncDispose]()
        const held = lab.revisions().length
        await second[Symbol.asyncDispose]()
        await lab.presets.settled()
        return [
          observe('revisions at first, after the parent, after the child', steps, [2, 2, 1]),
          observe('declarations, revisions, tools under two leases of a withdrawn preset', leased, [0, 1, 1]),
          observe('revisions after releasing one lease twice', held, 1),
          observe('revisions after releasing the other', lab.revisions(), []),
        ]
      }),
  },
]
