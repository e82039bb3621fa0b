import { describe, expect, test } from 'vitest'
import { draft, type EventType, type LogEvent } from '../wire/events.ts'
import { textOf, type CallConfig, type Message, type Selection } from '../wire/messages.ts'
import { SessionLog } from '../log/session-log.ts'
import type { Assembly } from '../prompt/assembly.ts'
import { Scopes } from '../scope/scope.ts'
import { Hooks, type CallProposal, type PreStep, type TurnAgent } from '../turn/hooks.ts'
import { header, ScriptedModel } from '../turn/turn.fixture.ts'
import { checkSelection, saveAsDefault } from './models.ts'
import { installModelSelection, ModelSelection, type SelectionOptions } from './selection.ts'
import { A, B, MemoryDefault, created, rig, scriptedRoute, turn, type Rig } from './session.fixture.ts'

const message = (text: string): Message => ({
  id: text,
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'user' },
})
const assembly = (selection?: Selection): Assembly => ({
  sections: [],
  contexts: [],
  tools: [],
  variables: { cwd: '/tmp', provider: 'inner', model: 'inner' },
  provenance: { sections: [], contexts: [] },
  ...(selection && { selection }),
})

/** The three listeners alone, on a log of one's own. */
function listeners({ used, fallback, ...options }: SelectionOptions & { used?: Selection; fallback?: Selection } = {}) {
  const hooks = new Hooks(new Scopes())
  const log = SessionLog.memory(header())
  if (used) log.append(draft('request/header', { header: { config: used }, compositionDigest: 'd', reason: 'initial' }))
  const agent = { id: 's1', scope: {}, log, options: { cwd: '/tmp' }, cwd: '/tmp' } as unknown as TurnAgent
  const selection = new ModelSelection(log, () => fallback)
  const remove = installModelSelection(hooks, agent, selection, { id: () => 'notice', ...options })
  const at = { agent, turn: 2, step: 1, signal: new AbortController().signal }
  return {
    log,
    selection,
    remove,
    assemble: (inner: () => Promise<Assembly> = async () => assembly()) =>
      hooks.waterfall(
        'system-prompt/assemble',
        agent.scope,
        { ...at, assembly: assembly(), scope: agent.scope, tools: [], variables: {} } as never,
        inner,
      ),
    request: (captured: Selection | undefined, inner: CallProposal) =>
      hooks.waterfall(
        'agent/request',
        agent.scope,
        { ...at, attempt: 1, assembly: assembly(captured) },
        async () => inner,
      ),
    preStep: (
      captured: Selection | undefined,
      decision: PreStep,
      over: { step?: number; messages?: Message[]; signal?: AbortSignal } = {},
    ) =>
      hooks.waterfall(
        'agent/pre-step',
        agent.scope,
        { ...at, messages: [message('go')], assembly: assembly(captured), ...over },
        async () => decision,
      ),
  }
}

describe('the captured selection', () => {
  test('M-01 M-02 is read when the assembly begins, kept when it ends, and overwrites both variables', async () => {
    const { assemble, selection } = listeners({ fallback: A })
    const result = await assemble(async () => {
      selection.selectForNextRequest(B)
      expect(selection.assembled).toBeUndefined()
      return assembly()
    })
    expect(result.variables).toEqual({ cwd: '/tmp', ...A })
    expect(result.selection).toEqual(A)
    expect(selection.assembled).toEqual(A)
    expect((await assemble()).selection).toEqual(B)
    expect(selection.assembled).toEqual(B)
  })

  test('M-01 an assembly that fails leaves what was captured last', async () => {
    const { assemble, selection } = listeners({ fallback: A })
    await assemble()
    selection.selectForNextRequest(B)
    await expect(assemble(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(selection.assembled).toEqual(A)
  })

  test('M-04 M-05 replaces provider, model and an inherited effort of the inner config', async () => {
    const { request, selection } = listeners({ fallback: A })
    selection.selectForNextRequest({ ...A, reasoningEffort: 'low' })
    const inner: CallConfig = { provider: 'inner', model: 'inner', reasoningEffort: 'max', temperature: 0.2 }
    expect(await request(B, inner)).toEqual({ ...B, temperature: 0.2 })
    const deep = { ...B, reasoningEffort: 'high' }
    expect(await request(deep, inner)).toEqual({ ...deep, temperature: 0.2 })
  })

  test('M-07 without any selection the three listeners let everything pass as it is', async () => {
    const { assemble, request, preStep, selection } = listeners({ used: A })
    const blank = listeners()
    const made = assembly()
    expect(await blank.assemble(async () => made)).toBe(made)
    expect([blank.selection.current, blank.selection.assembled, blank.selection.source]).toEqual([
      undefined,
      undefined,
      'none',
    ])
    const config = { provider: 'own', model: 'own', reasoningEffort: 'max' }
    expect(await request(undefined, config)).toBe(config)
    const decision: PreStep = { kind: 'enter', messages: [message('go')] }
    expect(await preStep(undefined, decision)).toBe(decision)
    expect(selection.source).toBe('last-request')
    expect((await assemble()).selection).toEqual(A)
  })

  test('M-08 what is removed does nothing any more, in each of the three places', async () => {
    const { assemble, request, preStep, remove } = listeners({ used: A })
    remove()
    const made = assembly()
    const config = { provider: 'own', model: 'own' }
    const decision: PreStep = { kind: 'enter', messages: [message('go')] }
    expect(await assemble(async () => made)).toBe(made)
    expect(await request(B, config)).toBe(config)
    expect(await preStep(B, decision)).toBe(decision)
  })
})

describe('the notice', () => {
  const go: PreStep = { kind: 'enter', messages: [message('go')] }
  const noticed = (decision: PreStep): string[] =>
    decision.kind === 'enter'
      ? decision.messages.filter(({ source }) => source.kind === 'model-selection').map(textOf)
      : []

  test('M-09 is the last message of the step, from the user, and says from what to what', async () => {
    const { preStep } = listeners({ used: A })
    expect(await preStep(B, { ...go, startsRequestSeries: true })).toEqual({
      kind: 'enter',
      startsRequestSeries: true,
      messages: [
        message('go'),
        {
          id: 'notice',
          role: 'user',
          content: [
            {
              type: 'text',
              text: 'The model of this session changed from route-a/model-a to route-b/model-b.',
            },
          ],
          source: {
            kind: 'model-selection',
            form: 'notice',
            summary: 'route-a/model-a → route-b/model-b',
          },
        },
      ],
    })
    expect(noticed(await preStep({ ...A, model: 'other' }, go))).toEqual([
      'The model of this session changed from model-a to other.',
    ])
    expect(noticed(await preStep({ ...A, provider: 'route-z' }, go))).toEqual([
      'The model of this session changed from route-a/model-a to route-z/model-a.',
    ])
  })

  test('M-10 compares with the latest logged header, not with an earlier one', async () => {
    const { preStep, log } = listeners({ used: A })
    log.append(draft('request/header', { header: { config: B }, compositionDigest: 'd', reason: 'change' }))
    expect(noticed(await preStep(B, go))).toEqual([])
    expect(noticed(await preStep(A, go))).toHaveLength(1)
  })

  const empty: PreStep = { kind: 'enter', messages: [] }
  test.each<
    [string, Selection, PreStep, Parameters<ReturnType<typeof listeners>['preStep']>[2], Selection | undefined]
  >([
    ['on the first request', B, go, {}, undefined],
    ['for an effort alone', { ...A, reasoningEffort: 'high' }, go, {}, A],
    ['after a reject', B, { kind: 'reject', reason: 'no' }, {}, A],
    ['when the turn was stopped', B, go, { signal: AbortSignal.abort() }, A],
    ['on a first step without messages', B, empty, { messages: [] }, A],
    ['on a first step whose messages were taken out', B, empty, {}, A],
    ['on a later step whose offered messages were taken out', B, empty, { step: 2 }, A],
  ])('M-11 none %s', async (...[, captured, decision, over, used]) => {
    const { preStep } = listeners(used && { used })
    expect(await preStep(captured, decision, over)).toBe(decision)
  })

  test('M-12 M-11 a step that continues after tools gets it, with nothing offered or with all of it', async () => {
    const { preStep } = listeners({ used: A })
    expect(noticed(await preStep(B, empty, { step: 2, messages: [] }))).toHaveLength(1)
    expect(noticed(await preStep(B, go, { step: 2 }))).toHaveLength(1)
    // What others put in counts, also where nothing was offered.
    expect(noticed(await preStep(B, go, { messages: [] }))).toHaveLength(1)
  })

  test('O-26 none in a batch run', async () => {
    const { preStep } = listeners({ used: A, modelNotice: false })
    expect(await preStep(B, go)).toBe(go)
  })
})

const live = (from: Rig, id: string) => from.sessions.live(id)!
const ofType = <T extends EventType>(from: Rig, id: string, type: T) =>
  live(from, id).events.filter((event) => event.type === type) as unknown as LogEvent<T>[]

describe('picks', () => {
  test('L-01 each agent has its own, and one that is opened again has what its log says', async () => {
    const from = await rig()
    const [one, other] = [await created(from), await created(from)]
    await from.sessions.selectModel(one, B, false)
    expect([live(from, one).selection.current, live(from, other).selection.current]).toEqual([B, A])
    await turn(from, other)
    await from.sessions.close()
    const again = await rig({ dataDir: from.dataDir, fallback: new MemoryDefault(B) })
    await again.sessions.rename(one, 'opened')
    await again.sessions.rename(other, 'opened')
    expect([live(again, one).selection.source, live(again, one).selection.current]).toEqual(['pending', B])
    expect([live(again, other).selection.source, live(again, other).selection.current]).toEqual(['last-request', A])
  })

  test('L-04 L-09 listeners before and behind see the new value in the append itself, also of a batch', () => {
    const log = SessionLog.memory(header())
    const seen: (Selection | undefined)[] = []
    let selection: ModelSelection | undefined
    log.observe(() => seen.push(selection?.current))
    selection = new ModelSelection(log, () => A)
    expect(selection.current).toEqual(A)
    log.observe(() => seen.push(selection.current))
    selection.selectForNextRequest({ ...B, reasoningEffort: 'low', ignored: true } as Selection)
    const used = { ...B, reasoningEffort: 'low' }
    log.append(
      draft('request/header', { header: { config: used }, compositionDigest: 'd', reason: 'initial' }),
      draft('model/selection', A),
    )
    expect(seen).toEqual([used, used, A, A])
    expect(log.events[0]!.data).toEqual(used)
  })

  test('L-12 the pick is in the log when the default is saved', async () => {
    const from = await rig()
    const id = await created(from)
    let known: unknown
    from.fallback.save = async () => void (known = ofType(from, id, 'model/selection').map(({ data }) => data))
    await from.sessions.selectModel(id, { ...A, reasoningEffort: 'high' }, true)
    expect(known).toEqual([{ ...A, reasoningEffort: 'high' }])
    expect(await from.sessions.selectModel(id, B, false)).toEqual({})
    expect(from.fallback.saves).toEqual([{ ...A, reasoningEffort: 'high' }])
  })

  test('L-15 a pick whose check takes long is recorded before the one that came after it', async () => {
    const from = await rig()
    const id = await created(from)
    const gate = Promise.withResolvers<void>()
    const slow = from.routes.get('route-a')!
    const describe = async (model: string) => {
      await gate.promise
      return slow.describe(model)
    }
    from.routes.add({ ...slow, id: 'slow', describe })
    const first = from.sessions.selectModel(id, { provider: 'slow', model: 'model-a', reasoningEffort: 'low' }, false)
    const second = from.sessions.selectModel(id, B, false)
    const refused = from.sessions.selectModel(id, { provider: 'nowhere', model: 'x' }, false)
    const last = from.sessions.selectModel(id, A, false)
    gate.resolve()
    await Promise.all([
      first,
      second,
      expect(refused).rejects.toMatchObject({ code: 'session/model-unavailable' }),
      last,
    ])
    expect(ofType(from, id, 'model/selection').map(({ data }) => data.provider)).toEqual(['slow', 'route-b', 'route-a'])
  })

  test('L-16 a waiting prompt is not sent without a model either', async () => {
    const from = await rig({ fallback: new MemoryDefault() })
    const id = await created(from)
    await expect(from.sessions.sendQueuedNow(id, 'm')).rejects.toMatchObject({
      code: 'session/model-not-configured',
      message: expect.stringContaining('Settings > Models'),
    })
  })

  test('L-18 a fork follows the pick that its prefix holds, used or not, and no later one', async () => {
    const from = await rig()
    const id = await created(from)
    await turn(from, id)
    const deep = { ...B, reasoningEffort: 'high' }
    await from.sessions.selectModel(id, deep, false)
    const child = async (options: { seq?: number }) =>
      live(from, (await from.sessions.fork(id, options)).session).selection
    const early = await child({})
    expect([early.source, early.current]).toEqual(['last-request', A])
    const late = await child({ seq: live(from, id).log.lastSeq })
    expect([late.source, late.current]).toEqual(['pending', deep])
  })
})

describe('the check of a pick', () => {
  const routes = async () => (await rig()).routes

  test.each<[Selection, RegExp]>([
    [{ provider: 'nowhere', model: 'x' }, /no model provider "nowhere".*Settings > Models/],
    [{ provider: 'route-a', model: '' }, /model id is empty/],
    [{ provider: 'route-a', model: '  ' }, /model id is empty/],
    [{ ...A, reasoningEffort: 'max' }, /model-a does not offer .*"max" \(offered: low, high\)/],
    [{ provider: 'route-a', model: 'new', reasoningEffort: 'low' }, /new does not offer .*"low" \(offered: none\)/],
  ])('L-14 %j is refused in words', async (pick, words) => {
    await expect(checkSelection(await routes(), pick)).rejects.toMatchObject({
      code: 'session/model-unavailable',
      message: expect.stringMatching(words),
      details: { provider: pick.provider, model: pick.model },
    })
  })

  test('L-14 a card is asked for only where an effort depends on it', async () => {
    const known = await routes()
    const asked: string[] = []
    const route = scriptedRoute('route-c', new ScriptedModel({ text: 'done' }), ['m'])
    known.add({ ...route, describe: (model) => (asked.push(model), route.describe(model)) })
    await checkSelection(known, { provider: 'route-c', model: 'm' })
    expect(asked).toEqual([])
    await checkSelection(known, { provider: 'route-c', model: 'm', reasoningEffort: 'high' })
    expect(asked).toEqual(['m'])
  })

  test('a route that is never a default is not saved as one, nor is anything where nobody keeps a default', async () => {
    const known = await routes()
    const kept = new MemoryDefault(A)
    known.add({ ...scriptedRoute('toy', new ScriptedModel({ text: 'done' }), []), neverDefault: true })
    expect(await saveAsDefault({ routes: known, defaultModel: kept }, { provider: 'toy', model: 'x' })).toEqual({})
    expect(await saveAsDefault({ routes: known }, B)).toEqual({})
    expect(kept.saves).toEqual([])
    kept.save = () => Promise.reject('no words') // oxlint-disable-line prefer-promise-reject-errors
    const warnings: string[] = []
    const warn = (said: string) => void warnings.push(said)
    expect(await saveAsDefault({ routes: known, defaultModel: kept, warn }, B)).toEqual({
      default: { saved: false, reason: 'no words' },
    })
    expect(warnings).toEqual(['the default model was not saved: no words'])
  })
})
