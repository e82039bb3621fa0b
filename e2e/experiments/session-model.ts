import { modelSelection } from '../../server/projection/model-selection.ts'
import { request } from '../../server/projection/request.ts'
import { draft } from '../../server/wire/events.ts'
import { observe } from './experiment.ts'
import { A, B, doc, inLab, persona, tool } from './lab.ts'
import type { LiveSession } from '../../server/session/live.ts'
import type { Selection } from '../../server/wire/messages.ts'
import type { Experiment } from './experiment.ts'

const presets = { standard: doc(tool('alpha'), persona({ prefix: 'I run on {{model}}.' })) }

/** A request that only the log knows of. */
const header = (session: LiveSession, config: Selection): unknown =>
  session.log.append(draft('request/header', { header: { config }, compositionDigest: '', reason: 'change' }))

const folded = (session: LiveSession) => session.log.state(modelSelection)

/** Which model a session's next request uses (EX-27 to EX-30). */
export const sessionModel: Experiment[] = [
  {
    id: 'EX-27',
    title: 'a blank session and one with history',
    did: 'ran a turn in one of two sessions, then moved the deployment default from A to B',
    run: () =>
      inLab({ presets }, async (lab) => {
        const blank = await lab.session()
        const used = await lab.session()
        await lab.turn(used)
        const before = [blank.selection.current, used.selection.current]
        await lab.setDefaultModel(B)
        const after = [blank.selection.current, used.selection.current]
        await lab.turn(used)
        await lab.turn(blank)
        const models = lab.bench.asked.map(({ model }) => model)
        return [
          observe('blank and used before', before, [A, A]),
          observe('blank and used after', after, [B, A]),
          observe('models asked: used, used again, blank', models, ['model-a', 'model-a', 'model-b']),
        ]
      }),
  },
  {
    id: 'EX-28',
    title: 'a pending pick and what consumes it',
    did: 'picked B, logged headers that differ in one field each, then the exact one, and moved the default',
    run: () =>
      inLab({ presets }, async (lab) => {
        const session = await lab.session()
        const pick = { ...B, reasoningEffort: 'high' }
        await lab.sessions.selectModel(session.id, pick, false)
        const near = [
          A,
          { ...pick, provider: 'route-a' },
          { ...pick, model: 'model-a' },
          { ...B, reasoningEffort: 'low' },
        ]
        const kept = near.map((config) => {
          header(session, config)
          return folded(session).pending
        })
        const meanwhile = session.selection.current
        let inListener: unknown
        const stop = session.log.observe(() => (inListener = session.selection.current))
        header(session, pick)
        stop()
        const { pending, lastUsed } = folded(session)
        await lab.setDefaultModel(A)
        return [
          observe('pending after four headers that nearly match', kept, [pick, pick, pick, pick]),
          observe('current meanwhile', meanwhile, pick),
          observe('pending and lastUsed after the exact one', [pending, lastUsed], [null, pick]),
          observe('current inside a listener of that append', inListener, pick),
          observe('current once the default moved', session.selection.current, pick),
        ]
      }),
  },
  {
    id: 'EX-29',
    title: 'an effort that the adapter filled in',
    did: 'ran two turns on a model whose adapter adds an effort of its own, without ever naming one',
    run: () => {
      const filled = { provider: 'route-a', model: 'model-filled' }
      return inLab({ presets, defaultModel: filled }, async (lab) => {
        const session = await lab.session()
        await lab.turn(session)
        const { header: logged } = session.log.state(request)
        const restored = session.selection.current
        await lab.turn(session, 'again')
        return [
          observe('effort in the logged header', logged?.config.reasoningEffort, 'medium'),
          observe('its mark', logged?.adapterDefaults, { reasoningEffort: true }),
          observe('current restored from that header', restored, filled),
          observe(
            'efforts that the two requests named',
            lab.bench.asked.map(({ effort }) => effort),
            [undefined, undefined],
          ),
        ]
      })
    },
  },
  {
    id: 'EX-30',
    title: 'prompt and request agree on one selection',
    did: 'ran three turns, picking B after the assembly of the first and A in the middle of the assembly of the second',
    run: () =>
      inLab({ presets }, async (lab) => {
        const session = await lab.session({ selection: A })
        const { scope } = session.agent
        const hooks = lab.service('hooks')
        const seen: unknown[] = []
        let stop = hooks.on(scope, 'agent/pre-step', async (_event, next) => {
          session.selection.selectForNextRequest(B)
          seen.push(session.selection.current, session.selection.assembled)
          return next()
        })
        await lab.turn(session)
        stop()
        stop = hooks.on(scope, 'system-prompt/assemble', async (_event, next) => {
          session.selection.selectForNextRequest(A)
          return next()
        })
        await lab.turn(session, 'again')
        stop()
        await lab.turn(session, 'and again')
        return [
          observe('current and assembled between the first assembly and its request', seen, [B, A]),
          observe(
            'routes of the three requests',
            lab.bench.asked.map(({ provider, model }) => ({ provider, model })),
            [A, B, A],
          ),
          observe(
            'their system prompts',
            lab.bench.asked.map(({ system }) => system),
            ['I run on model-a.', 'I run on model-b.', 'I run on model-a.'],
          ),
        ]
      }),
  },
]
