import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { declare, presetHost, testAgent, tool, withdraw } from '../boot-testing.ts'
import type { CoreError } from '../wire/errors.ts'
import { draft } from '../wire/events.ts'
import type { TestHost } from '../boot-testing.ts'

const STANDARD = declare('standard', tool('alpha'), 'order: 1')
const MINIMAL = declare('minimal', tool('beta'), 'order: 3')
const BROKEN = declare('broken', '- {id: bad, name: probe-thrower}')

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!
const names = ({ host }: TestHost, scope: object | null) =>
  host
    .service('tools')!
    .view(scope)
    .map(({ spec }) => spec.name)
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error as CoreError).code,
  )

test('D-03 agents see the tools of their own preset, the root list stays empty, and revisions are shared', async () => {
  const made = await presetHost(STANDARD + MINIMAL)
  const presets = presetsOf(made)
  const [a, b, c] = [{}, {}, {}]
  await presets.mount(a, 'standard')
  await presets.mount(b, 'standard')
  await presets.mount(c, 'minimal')
  expect([names(made, a), names(made, b), names(made, c), names(made, null)]).toEqual([
    ['alpha'],
    ['alpha'],
    ['beta'],
    [],
  ])
  expect(
    presets
      .inspectCompositions()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(['minimal', 'standard'])
})

test('C-02 an explicit id wins over the default, and the deployment default serves a caller without one', async () => {
  const presets = presetsOf(await presetHost(STANDARD + MINIMAL))
  expect(await presets.resolve()).toEqual({ id: 'standard' })
  expect(await presets.resolve('minimal')).toEqual({ id: 'minimal' })
})

test('C-03 the user default is read live and gives way to the deployment default without a restart', async () => {
  const made = await presetHost(STANDARD + MINIMAL)
  const { loader } = made.host.ctx
  const { fiber } = loader.resolve('host:agent-presets')
  const presets = presetsOf(made)
  await loader.update('host:agent-presets', { config: { default: 'standard', selectedDefault: 'minimal' } })
  expect(await presets.resolve()).toEqual({ id: 'minimal' })
  await loader.update('host:agent-presets', { config: { default: 'standard' } })
  expect(await presets.resolve()).toEqual({ id: 'standard' })
  expect(loader.resolve('host:agent-presets').fiber).toBe(fiber)
})

test('C-04 an empty id is an id that nobody declared', async () => {
  const presets = presetsOf(await presetHost(STANDARD))
  expect(await codeOf(presets.resolve(''))).toBe('agent-preset/not-found')
})

test('C-05 C-06 a broken preset is found with its reason and is never replaced by a healthy one', async () => {
  const made = await presetHost(STANDARD + BROKEN)
  await made.host.ctx.loader.update('host:agent-presets', {
    config: { default: 'standard', selectedDefault: 'broken' },
  })
  const presets = presetsOf(made)
  expect(await presets.resolve()).toEqual({ id: 'broken', broken: 'bad (probe-thrower): the probe gives up' })
  expect(await codeOf(presets.mount({}))).toBe('agent-preset/invalid')
})

test('C-07 using a broken preset rejects with the diagnosis as message and detail', async () => {
  const presets = presetsOf(await presetHost(BROKEN))
  for (const use of [
    () => presets.retain('broken'),
    () => presets.mount({}, 'broken'),
    () => presets.acquireScope('broken'),
  ]) {
    const error = await use().then(
      () => undefined,
      (reason: unknown) => reason as CoreError,
    )
    expect(error?.code).toBe('agent-preset/invalid')
    expect(error?.details?.['reason']).toBe('bad (probe-thrower): the probe gives up')
    expect(error?.message).toContain('bad (probe-thrower): the probe gives up')
  }
})

test('C-08 an unknown id is not found anywhere, and the error lists what there is', async () => {
  const presets = presetsOf(await presetHost(STANDARD + BROKEN))
  const uses = [
    () => presets.resolve('absent'),
    () => presets.mount({}, 'absent'),
    () => presets.acquireScope('absent'),
    () => presets.select(testAgent('s1'), 'absent'),
    async () => presets.readDocument('absent'),
  ]
  for (const use of uses) {
    const error = await use().then(
      () => undefined,
      (reason: unknown) => reason as CoreError,
    )
    expect(error).toMatchObject({ code: 'agent-preset/not-found', details: { available: ['standard', 'broken'] } })
  }
})

test('C-09 a registry row without a default does not start', async () => {
  const { host } = await presetHost('', { patches: [{ id: 'agent-presets', config: {} }] })
  expect(host.report.rows).toMatchObject([{ row: 'agent-presets', cause: expect.stringContaining('default') }])
})

test('D-04 a prompt section of a preset stands in the assemblies of its agents only', async () => {
  const persona = (id: string) => declare(id, `- {id: persona, name: persona, config: {prefix: I am ${id}.}}`)
  const made = await presetHost(persona('x') + persona('y'))
  const presets = presetsOf(made)
  const prompt = made.host.service('systemPrompt')!
  const scopes = { x: {}, y: {} }
  await presets.mount(scopes.x, 'x')
  await presets.mount(scopes.y, 'y')
  const textFor = async (scope: object) => {
    const agent = { id: 'a', scope, cwd: '/' }
    const { sections } = await prompt.assemble({ agent, scope, signal: new AbortController().signal, tools: [] })
    return sections.map(({ text }) => text).join('|')
  }
  expect(await textFor(scopes.x)).toContain('I am x.')
  expect(await textFor(scopes.x)).not.toContain('I am y.')
  expect(await textFor(scopes.y)).toContain('I am y.')
})

test('D-06 D-07 mounting leaves the declaring entry as it was, and child ids are below it', async () => {
  const made = await presetHost(STANDARD)
  const declaring = made.host.ctx.loader.resolve('host:declare-standard')
  expect([declaring.subtree, declaring.subgroup, declaring.disabled]).toEqual([undefined, undefined, false])
  expect(presetsOf(made).inventory('standard')).toEqual([
    { id: 'alpha', name: 'probe-tool', enabled: true, state: 'active' },
  ])
})

test('D-09 only a scope can use a preset', async () => {
  const presets = presetsOf(await presetHost(STANDARD))
  await expect(presets.mount(undefined as never, 'standard')).rejects.toThrow('scope')
})

test('D-10 D-11 joining twice counts once, and moving hands the use over', async () => {
  const made = await presetHost(STANDARD + MINIMAL)
  const presets = presetsOf(made)
  const scope = {}
  await presets.mount(scope, 'standard')
  await presets.mount(scope, 'standard')
  await withdraw(made, 'standard')
  expect(
    presets
      .inspectCompositions()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(['minimal', 'standard'])
  await presets.mount(scope, 'minimal')
  expect(presets.inspectCompositions().map(({ id }) => id)).toEqual(['minimal'])
  expect(names(made, scope)).toEqual(['beta'])
})

test('H-04 a refused switch changes nothing and does not hold up the next ones', async () => {
  const made = await presetHost(STANDARD + MINIMAL)
  const presets = presetsOf(made)
  const agent = testAgent('s1')
  await presets.mount(agent.scope, 'standard')
  const results = await Promise.all(['absent', 'minimal', 'standard'].map((id) => codeOf(presets.select(agent, id))))
  expect(results).toEqual(['agent-preset/not-found', 'ok', 'ok'])
  expect(presets.composedPreset(agent.scope)).toBe('standard')
  expect(agent.log.events.map(({ data }) => data)).toEqual([{ agentPreset: 'minimal' }, { agentPreset: 'standard' }])
})

test('H-02 H-03 a session that had a turn is locked, idle or not', async () => {
  const presets = presetsOf(await presetHost(STANDARD + MINIMAL))
  const agent = testAgent('s1')
  await presets.mount(agent.scope, 'standard')
  agent.log.append(draft('turn/start', { turn: 1 }))
  const refusal = await presets.select(agent, 'minimal').then(
    () => undefined,
    (reason: unknown) => reason as CoreError,
  )
  expect(refusal).toMatchObject({ code: 'agent-preset/locked', details: { sessionId: 's1', agentPreset: 'minimal' } })
  agent.log.append(draft('turn/end', { turn: 1, reason: { kind: 'completed' } }))
  expect(await codeOf(presets.select(agent, 'minimal'))).toBe('agent-preset/locked')
  expect(presets.composedPreset(agent.scope)).toBe('standard')
})

test('H-05 the scope is bound before the event is appended, and a failed append restores the binding', async () => {
  const made = await presetHost(STANDARD + MINIMAL)
  const presets = presetsOf(made)
  const agent = testAgent('s1')
  await presets.mount(agent.scope, 'standard')
  const seen: string[][] = []
  const append = agent.log.append.bind(agent.log)
  agent.log.append = (...drafts) => {
    seen.push(names(made, agent.scope))
    return append(...drafts)
  }
  agent.log.refuse = true
  await expect(presets.select(agent, 'minimal')).rejects.toThrow('the disk is full')
  expect([seen, presets.composedPreset(agent.scope), names(made, agent.scope)]).toEqual([
    [['beta']],
    'standard',
    ['alpha'],
  ])
  agent.log.refuse = false
  expect(await presets.select(agent, 'minimal')).toBe('minimal')
})

test('H-01 the switches of one session go one after another, those of different sessions do not wait for each other', async () => {
  const presets = presetsOf(await presetHost(STANDARD + MINIMAL))
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const slow = testAgent('slow')
  let inside = 0
  slow.runMaintenance = async (work) => {
    expect(++inside).toBe(1)
    await gate.promise
    const result = await work()
    inside--
    return result
  }
  const quick = testAgent('quick')
  for (const agent of [slow, quick]) await presets.mount(agent.scope, 'standard')
  const done = (name: string) => (id: string) => void order.push(`${name} ${id}`)
  const slowOnes = ['minimal', 'standard', 'minimal'].map((id) => presets.select(slow, id).then(done('slow')))
  await presets.select(quick, 'minimal').then(done('quick'))
  gate.resolve()
  await Promise.all(slowOnes)
  expect(order).toEqual(['quick minimal', 'slow minimal', 'slow standard', 'slow minimal'])
  expect(slow.log.events.map(({ data }) => data)).toEqual(
    ['minimal', 'standard', 'minimal'].map((agentPreset) => ({ agentPreset })),
  )
})

test('H-01 a turn that starts while a switch waits for its preset locks the session', async () => {
  const presets = presetsOf(await presetHost(STANDARD + MINIMAL))
  const agent = testAgent('s1')
  await presets.mount(agent.scope, 'standard')
  const select = presets.select(agent, 'minimal')
  await Promise.resolve()
  agent.log.append(draft('turn/start', { turn: 1 }))
  expect(await codeOf(select)).toBe('agent-preset/locked')
  expect(presets.composedPreset(agent.scope)).toBe('standard')
})

test('H-10 H-11 a failing observer is contained, and each committed switch is announced once', async () => {
  const made = await presetHost(STANDARD + MINIMAL)
  const presets = presetsOf(made)
  const heard: string[] = []
  made.host.ctx.on('agent-preset/selected', (session, id) => void heard.push(`${session} ${id}`))
  presets.onChange(() => {
    throw new Error('an observer')
  })
  const agent = testAgent('s1')
  await presets.mount(agent.scope, 'standard')
  await presets.select(agent, 'minimal')
  await presets.select(agent, 'minimal')
  expect([heard, agent.log.events.length]).toEqual([['s1 minimal'], 1])
})

test('H-12 recompose moves the tools of an agent with an open turn and logs nothing', async () => {
  const made = await presetHost(STANDARD + MINIMAL)
  const presets = presetsOf(made)
  const agent = testAgent('s1')
  await presets.mount(agent.scope, 'standard')
  agent.log.append(draft('turn/start', { turn: 1 }))
  await presets.recompose(agent.scope, 'minimal')
  expect([names(made, agent.scope), agent.log.events.length]).toEqual([['beta'], 1])
})

test('a person’s default is saved, told of, and taken out again when it is the deployment’s', async () => {
  const made = await presetHost(`${STANDARD}${MINIMAL}\n- {id: config-editor, name: config-editor}`)
  const presets = presetsOf(made)
  const heard: string[] = []
  presets.onChange(() => heard.push(presets.defaultId()))
  await presets.saveDefault('minimal')
  expect(await presets.resolve()).toEqual({ id: 'minimal' })
  expect(heard).toContain('minimal')
  await presets.saveDefault('standard')
  expect(await readFile(join(made.dataDir, 'user.cordis.yml'), 'utf8')).toBe('[]\n')
  expect(await presets.resolve()).toEqual({ id: 'standard' })
  expect(await codeOf(presets.saveDefault('absent'))).toBe('agent-preset/not-found')
})

test('without a settings file the default cannot be saved, and that is said', async () => {
  const presets = presetsOf(await presetHost(STANDARD + MINIMAL))
  expect(await codeOf(presets.saveDefault('minimal'))).toBe('settings/not-saved')
})
