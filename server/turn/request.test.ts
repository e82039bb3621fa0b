import { expect, test } from 'vitest'
import { Agent } from '../agent/agent.ts'
import type { LogEvent } from '../wire/events.ts'
import type { Selection } from '../wire/messages.ts'
import type { GenerationRef } from '../wire/presets.ts'
import { registerPersona } from '../prompt/persona.ts'
import { installModelSelection, ModelSelection } from '../session/selection.ts'
import { sameJson } from './digest.ts'
import { FACTS, memoryLog, ofType, ScriptedModel, texts, tool, world, type Say } from './turn.fixture.ts'

const A: Selection = { provider: 'p', model: 'a' }
const B: Selection = { provider: 'p', model: 'b' }

function setting(script: Say[] = [{ text: 'ok' }], events?: LogEvent[]) {
  const model = new ScriptedModel(...script)
  const host = world(model)
  const log = memoryLog(events)
  let preset = 'digest-1'
  const options = { ...A, cwd: '/tmp' }
  let composition: GenerationRef | undefined
  const agent = new Agent(host, { id: 's1', log, options, presetDigest: () => preset, composition: () => composition })
  const run = async (prompt = 'hello') => {
    await agent.followup(prompt)
    await agent.whenIdle()
  }
  const headers = () => ofType(log, 'request/header').map(({ data }) => data)
  const origins = () => ofType(log, 'request/origins')
  const setPreset = (value: string) => void (preset = value)
  const setComposition = (value: GenerationRef | undefined) => void (composition = value)
  return { model, host, log, agent, run, headers, origins, setPreset, setComposition }
}

/** The same with a session's model selection installed. */
function selected(start: Selection | undefined, script?: Say[]) {
  const base = setting(script)
  let fallback = start
  const selection = new ModelSelection(base.log, () => fallback)
  const dispose = installModelSelection(base.host.hooks, base.agent, selection)
  return { ...base, selection, dispose, setDefault: (value: Selection) => void (fallback = value) }
}

const notices = (log: { events: readonly LogEvent[] }) =>
  ofType(log, 'user/message').flatMap(({ data }) =>
    data.message.source.kind === 'model-selection' ? [data.message.source.summary] : [],
  )

test('LH-g a header is logged at first, on a change and once by a new instance, never for nothing', async () => {
  const first = setting()
  await first.run()
  await first.run()
  expect(first.headers().map((header) => header.reason)).toEqual(['initial'])
  const second = setting(undefined, [...first.log.events])
  await second.run()
  await second.run()
  expect(second.headers().map((header) => header.reason)).toEqual(['initial', 'resume'])
  expect(sameJson(second.headers()[0]!.header, second.headers()[1]!.header)).toBe(true)
})

test('the composition digest covers preset, prompt, tools and route; each change logs one header', async () => {
  const { agent, host, headers, run, setPreset, model } = setting()
  await run()
  setPreset('digest-2')
  await run()
  const undo = registerPersona(host.prompt, agent, { prefix: 'other' })
  await run()
  const undoTool = host.tools.add(agent, tool('extra'))
  await run()
  host.hooks.on(null, 'agent/request', async (_event, next) => ({ ...(await next()), model: 'other' }))
  await run()
  await run()
  const digests = headers().map((header) => header.compositionDigest)
  expect(headers().map((header) => header.reason)).toEqual(['initial', 'change', 'change', 'change', 'change'])
  expect(new Set(digests).size).toBe(5)
  for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{64}$/)
  undo()
  undoTool()
  expect(model.requests.at(-1)!.tools.map((spec) => spec.name)).toEqual(['extra'])
  expect(headers()[3]!.header.tools).toMatchObject([{ name: 'extra' }])
})

test('a header names the revision of the preset, and another revision alone is a change', async () => {
  const { headers, run, setComposition } = setting()
  const one = { preset: 'mine', generation: 1, digest: 'x' }
  await run()
  setComposition(one)
  await run()
  await run()
  setComposition({ ...one, generation: 2 })
  await run()
  setComposition(undefined)
  await run()
  expect(headers().map(({ composition, reason }) => [composition, reason])).toEqual([
    [undefined, 'initial'],
    [one, 'change'],
    [{ ...one, generation: 2 }, 'change'],
    [undefined, 'change'],
  ])
  expect(headers()[0]).not.toHaveProperty('composition')
  expect(new Set(headers().map((header) => header.compositionDigest)).size).toBe(1)
})

test('origins are logged in the batch of the request when they differ, also after a resume, and are no part of the digest', async () => {
  const { agent, host, headers, origins, run, log } = setting()
  const batches: string[][] = []
  log.observe((events) => void batches.push(events.map((event) => event.type)))
  await run()
  await run()
  expect(batches.filter((batch) => batch.includes('request/origins'))).toEqual([
    ['system/message', 'user/message', 'request/header', 'request/origins', 'request/context', 'agent/inbox/spliced'],
  ])
  expect(origins().map((event) => [event.ignorable, event.data])).toEqual([
    [
      true,
      {
        turn: 1,
        step: 1,
        sections: [
          {
            name: 'deployment:persona-prefix',
            order: 0,
            owner: 'system-prompt',
            scope: 'global',
            fate: 'shown',
            text: 'You help.',
          },
          {
            name: 'deployment:persona-suffix',
            order: 10200,
            owner: 'system-prompt',
            scope: 'global',
            fate: 'empty',
            text: '',
          },
        ],
        contexts: [],
        tools: {},
      },
    ],
  ])
  host.tools.add(agent, tool('bash'), 'shell-row')
  host.tools.add(agent, tool('stray'))
  await run()
  expect(origins().map((event) => [event.data.turn, event.data.tools])).toEqual([
    [1, {}],
    [3, { bash: 'shell-row' }],
  ])
  host.prompt.suppressContexts(agent, 'nobody listens')
  host.prompt.context(agent, { name: 'c', text: 'said', owner: 'c-row' })
  await run()
  const view = {
    name: 'c',
    order: 0,
    owner: 'c-row',
    scope: 'own',
    fate: 'suppressed',
    by: 'nobody listens',
    text: 'said',
  }
  expect(origins().at(-1)!.data.contexts).toEqual([view])
  expect(headers().map((header) => header.reason)).toEqual(['initial', 'change'])

  const resumed = setting(undefined, [...log.events])
  resumed.host.tools.add(resumed.agent, tool('bash'), 'shell-row')
  resumed.host.tools.add(resumed.agent, tool('stray'))
  resumed.host.prompt.suppressContexts(resumed.agent, 'nobody listens')
  resumed.host.prompt.context(resumed.agent, { name: 'c', text: 'said', owner: 'c-row' })
  await resumed.run()
  expect(resumed.origins()).toHaveLength(3)
  const other = setting(undefined, [...log.events])
  await other.run()
  expect(other.origins()).toHaveLength(4)
})

test('a series request logs a header although nothing changed', async () => {
  const { host, headers, run } = setting()
  await run()
  host.hooks.on(null, 'agent/pre-step', async (_event, next) => {
    const decision = await next()
    return decision.kind === 'enter' ? { ...decision, startsRequestSeries: true } : decision
  })
  await run()
  expect(headers().map(({ reason, startsSeries }) => [reason, startsSeries])).toEqual([
    ['initial', undefined],
    ['series', true],
  ])
})

test('the system prompt is logged first and replaced when it changed; the request carries the latest', async () => {
  const { agent, host, log, model, run } = setting()
  await run()
  registerPersona(host.prompt, agent, { prefix: 'You moved.' })
  await run()
  await run()
  const systems = ofType(log, 'system/message')
  expect(texts(systems.map(({ data }) => data.message))).toEqual(['You help.', 'You moved.'])
  expect(systems[1]!.surfaceOp).toEqual({ op: 'replace', startSeq: systems[0]!.seq, endSeq: systems[0]!.seq })
  expect(model.requests.map((request) => request.system)).toEqual(['You help.', 'You moved.', 'You moved.'])
  expect(model.requests.every((request) => request.messages.every(({ role }) => role !== 'system'))).toBe(true)
  expect(ofType(log, 'request/context').map(({ data }) => data.systemPromptUpdate)).toEqual([undefined, true])
})

test('LH-a LH-b a value that the adapter filled in is marked and never proposed again', async () => {
  const { model, headers, run } = setting()
  model.facts = { ...FACTS, reasoning: true, efforts: [{ id: 'low', default: true }, { id: 'high' }] }
  await run()
  model.facts = { ...FACTS, reasoning: true, efforts: [{ id: 'low' }, { id: 'high', default: true }] }
  await run()
  expect(model.configs.map((config) => config.reasoningEffort)).toEqual([undefined, undefined])
  expect(headers().map(({ header }) => [header.config.reasoningEffort, header.adapterDefaults])).toEqual([
    ['low', { reasoningEffort: true }],
    ['high', { reasoningEffort: true }],
  ])
})

test('A-02 after the first request the last header decides, not the agent’s options', async () => {
  const first = setting()
  await first.run()
  const model = new ScriptedModel({ text: 'ok' })
  const agent = new Agent(world(model), {
    id: 's1',
    log: memoryLog([...first.log.events]),
    options: { ...B, cwd: '/tmp' },
  })
  await agent.followup('again')
  await agent.whenIdle()
  expect(model.configs).toEqual([A])
})

test('llm/sent names attempt and digest of each request body', async () => {
  const { log, run } = setting([
    {
      stream: async function* (request) {
        request.onSent?.({ path: '/v1', bytes: 3, sha256: 'abc' })
        yield { t: 'open', i: 0, kind: 'text' }
        yield { t: 'delta', i: 0, s: 'x' }
        yield { t: 'warn', feature: 'f' }
        yield { t: 'end', finish: { kind: 'stop' } }
      },
    },
  ])
  await run()
  await run()
  expect(ofType(log, 'llm/sent')[0]!.data).toEqual({
    turn: 1,
    step: 1,
    attempt: 1,
    route: 'p',
    path: '/v1',
    bytes: 3,
    sha256: 'abc',
  })
  expect(ofType(log, 'llm/sent')[0]!.ignorable).toBe(true)
  expect(ofType(log, 'llm/warning')).toHaveLength(1)
})

test('M-01 M-02 a pick made after assembly moves neither the prompt nor the route of this request', async () => {
  const { agent, host, model, run, selection } = selected(A)
  registerPersona(host.prompt, agent, { prefix: 'by {{provider}}/{{model}}' })
  const undo = host.hooks.on(null, 'agent/pre-step', (_event, next) => {
    selection.selectForNextRequest(B)
    undo()
    return next()
  })
  await run()
  await run()
  expect(model.requests.map((request) => request.system)).toEqual(['by p/a', 'by p/b'])
  expect(model.configs.map((config) => config.model)).toEqual(['a', 'b'])
})

test('M-03 LH-e a pick made before assembly moves both', async () => {
  const { agent, host, model, run, selection } = selected(A)
  registerPersona(host.prompt, agent, { prefix: 'by {{model}}' })
  selection.selectForNextRequest(B)
  await run()
  expect(model.requests[0]!.system).toBe('by b')
  expect(model.configs[0]!.model).toBe('b')
})

test('M-04 M-06 the captured route wins over inner handling, other fields of the request survive', async () => {
  const { host, model, run } = selected(A)
  host.hooks.on(null, 'agent/request', async (_event, next) => ({
    ...(await next()),
    model: 'inner',
    temperature: 0.5,
  }))
  await run()
  expect(model.configs[0]).toEqual({ ...A, temperature: 0.5 })
})

test('M-05 an inherited effort goes unless the captured selection has one', async () => {
  const { host, model, run, selection } = selected(A)
  host.hooks.on(null, 'agent/request', async (_event, next) => ({ ...(await next()), reasoningEffort: 'high' }))
  await run()
  selection.selectForNextRequest({ ...A, reasoningEffort: 'low' })
  await run()
  expect(model.configs.map((config) => config.reasoningEffort)).toEqual([undefined, 'low'])
})

test('M-07 M-08 without a selection, and after disposal, the config object passes through', async () => {
  const { host, dispose, run, model } = selected(undefined)
  const passed: unknown[] = []
  host.hooks.on(
    null,
    'agent/request',
    async (_event, next) => {
      const inner = await next()
      passed.push(inner)
      return inner
    },
    { prepend: true },
  )
  let made: unknown
  host.hooks.on(null, 'agent/request', async (_event, next) => (made = await next()) as never)
  await run()
  expect(passed[0]).toBe(made)
  dispose()
  expect(host.hooks.has('agent/pre-step')).toBe(false)
  expect(host.hooks.has('system-prompt/assemble')).toBe(false)
  await run()
  expect(model.configs[1]).toMatchObject(A)
})

test('M-09 M-15 a changed route is noticed once, durably, as part of later history', async () => {
  const { log, run, selection, model } = selected(A)
  await run()
  selection.selectForNextRequest(B)
  await run()
  selection.selectForNextRequest({ provider: 'q', model: 'b' })
  await run()
  await run()
  expect(notices(log)).toEqual(['a → b', 'p/b → q/b'])
  const history = model.requests.at(-1)!.messages.filter(({ source }) => source.kind === 'model-selection')
  expect(history).toHaveLength(2)
  expect(history[0]).toMatchObject({ role: 'user', source: { form: 'notice' } })
})

test('M-11 no notice on the first request, for an effort alone, or when the step is rejected', async () => {
  const { host, log, run, selection } = selected(A)
  await run()
  selection.selectForNextRequest({ ...A, reasoningEffort: 'low' })
  await run()
  selection.selectForNextRequest(B)
  const undo = host.hooks.on(null, 'agent/pre-step', () => ({ kind: 'reject' }))
  await run()
  undo()
  expect(notices(log)).toEqual([])
})

test('M-12 a step that only continues after tools gets the notice when the route changed', async () => {
  const { host, log, run, selection } = selected(A, [
    { calls: [{ id: 'c', name: 'switch', arguments: '{}' }] },
    { text: 'ok' },
  ])
  const switchTool = tool('switch', async () => {
    selection.selectForNextRequest(B)
    return { content: [] }
  })
  host.tools.add(null, switchTool)
  await run()
  expect(notices(log)).toEqual(['a → b'])
})

test('M-13 a request that fails before its header is logged leaves the notice to the next one', async () => {
  const { host, log, run, selection } = selected(A)
  await run()
  selection.selectForNextRequest(B)
  const undo = host.hooks.on(null, 'agent/request', () => {
    throw new Error('not yet')
  })
  await run()
  expect(notices(log)).toEqual([])
  undo()
  await run()
  expect(notices(log)).toEqual(['a → b'])
})

test('M-10 M-14 the notice compares with the latest header and sees what inner listeners decided', async () => {
  const { host, log, run, selection } = selected(A)
  await run()
  selection.selectForNextRequest(B)
  host.hooks.on(null, 'agent/pre-step', async (_event, next) => {
    await next()
    return { kind: 'enter', messages: [] }
  })
  await run()
  expect(notices(log)).toEqual([])
})
