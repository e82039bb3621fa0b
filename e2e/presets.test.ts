import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { PresetUsage } from '../server/wire/presets.ts'
import { documentOf, persona, Presets, type Status } from './presets.fixture.ts'

const NOTE = '- {id: todo, name: tool-todo}'
const V1 = documentOf('mine', `${persona('I am one.')}\n${NOTE}`)
const V2 = documentOf('mine', persona('I am two.'))

let lab: Presets
beforeAll(async () => {
  lab = await Presets.start({ mine: V1 })
}, 60_000)
afterAll(() => lab?.host.remove())

const usage = async (id: string): Promise<PresetUsage> =>
  (await (await lab.host.get(`/api/presets/${id}/usage`)).json()) as PresetUsage
const marks = (row: Status) => ({ generation: row.composition?.generation, preset: row.composition?.preset })

describe('two generations in use', () => {
  test('F-06 a session says which generation it uses, a new one gets the newest, and blank ones can be moved', async () => {
    const { client } = lab
    const [used, blank] = [await lab.session('mine'), await lab.session('mine')]
    await lab.turn(used, 1)
    const first = await client.attach(used)
    expect(first.composition).toMatchObject({ preset: 'mine', generation: 1 })
    await lab.write('mine', V2)
    const fresh = await lab.session('mine')
    expect((await client.attach(fresh)).composition?.generation).toBe(2)
    expect((await client.attach(used)).composition).toEqual(first.composition)
    const before = await usage('mine')
    expect(before.generations.map(({ generation, retired, users }) => [generation, retired, users])).toEqual([
      [2, false, 1],
      [1, true, 2],
    ])
    expect(before.generations[1]!.sessions).toEqual([
      { session: used, title: 'go', blank: false },
      { session: blank, title: '', blank: true },
    ])

    const from = client.frames.length
    expect(await client.command('preset.move-blank', { preset: 'mine' })).toEqual({ moved: [blank], left: [] })
    expect(marks(await lab.status(blank, from))).toEqual({ preset: 'mine', generation: 2 })
    const after = await usage('mine')
    expect(after.generations.map(({ sessions }) => sessions.map(({ session }) => session))).toEqual([
      [fresh, blank],
      [used],
    ])
    await lab.turn(used, 2)
    const headers = client.events(used).flatMap((event) => (event.type === 'request/header' ? [event.data] : []))
    expect(new Set(headers.map(({ composition }) => composition?.generation))).toEqual(new Set([1]))
    await lab.turn(blank, 1)
    const header = await client.event(blank, 'request/header')
    expect([header.data.composition?.generation, header.data.header.tools]).toEqual([2, []])
  })

  test('a switch moves the generation that every tab is told', async () => {
    const session = await lab.session('standard')
    const other = await lab.host.connect()
    await other.attach(session)
    const from = other.frames.length
    await lab.client.command('preset.select', { session, preset: 'minimal' })
    const told = (await other.until((frame) => frame.t === 'writer' && frame.session === session, from)) as Status
    expect(marks(told)).toEqual({ preset: 'minimal', generation: 1 })
    await other.close()
  })

  test('H-01 two tabs switch at once: both are answered, and both see the last one', async () => {
    const session = await lab.session('standard')
    const other = await lab.host.connect()
    await other.attach(session)
    const answers = await Promise.all([
      lab.client.command('preset.select', { session, preset: 'minimal' }),
      other.command('preset.select', { session, preset: 'mine' }),
    ])
    expect(answers.map(({ preset }) => preset)).toEqual(['minimal', 'mine'])
    const [mine, theirs] = [await lab.client.attach(session), await other.attach(session)]
    expect(mine.t === 'snapshot' && mine.state.preset.current).toBe('mine')
    expect(theirs.composition).toEqual(mine.composition)
    await other.close()
  })

  test('D-02 switching a blank session mounts nothing', async () => {
    const presets = lab.host.host.service('agentPresets')!
    const session = await lab.session('standard')
    const mounted = presets.generations().map(({ preset, mountedAt }) => [preset, mountedAt])
    for (const preset of ['minimal', 'standard', 'mine', 'standard', 'minimal'])
      await lab.client.command('preset.select', { session, preset })
    expect(presets.generations().map(({ preset, mountedAt }) => [preset, mountedAt])).toEqual(mounted)
  })

  test('a switch assembles no other preset anew: the list that people see does not change by it', async () => {
    const session = await lab.session('standard')
    await lab.host.host.service('roster')!.refresh()
    const described = vi.spyOn(lab.host.host.service('agentPresets')!.registry, 'describe')
    for (const preset of ['minimal', 'standard', 'mine']) await lab.client.command('preset.select', { session, preset })
    expect(described).not.toHaveBeenCalled()
    await lab.write('mine', V1.replace('I am one.', 'I am three.'))
    expect(described).toHaveBeenCalled()
    described.mockRestore()
  })
})

describe('a fork into another preset', () => {
  test('H-17 the report says what becomes text, what comes and what goes, before anything is made', async () => {
    const session = await lab.session('standard')
    await lab.turn(session, 1)
    const report = await lab.client.command('session.fork-check', { session, preset: 'minimal' })
    expect(report.preset).toBe('minimal')
    expect(report.asText.length).toBeGreaterThan(0)
    expect(report.asText.map(({ tool }) => tool)).not.toContain('bash')
    expect(report.tools.added).toEqual(['str_replace_editor'])
    expect(report.tools.removed).toContain('todo_write')
    expect(report.tools.changed).toEqual(['bash'])
    expect(report.services).toEqual({ added: ['fs', 'terminals'], removed: [] })
    expect(report.tokens.before).toBeGreaterThan(report.tokens.after)
    const same = await lab.client.command('session.fork-check', { session, preset: 'standard' })
    expect(same).toMatchObject({ asText: [], tools: { added: [], removed: [], changed: [] } })
    await expect(lab.client.command('session.fork-check', { session, preset: 'absent' })).rejects.toMatchObject({
      code: 'agent-preset/not-found',
    })
    const blank = await lab.session('standard')
    await expect(lab.client.command('session.fork-check', { session: blank, preset: 'minimal' })).rejects.toMatchObject(
      {
        code: 'session/fork-unavailable',
      },
    )
  })
})

describe('after a restart', () => {
  test('H-16 a changed declaration is told once when the session goes on; the old digest stays in the log', async () => {
    let own = await Presets.start({ mine: V1 })
    const { dataDir, work } = own.host
    const session = await own.session('mine')
    await own.turn(session, 1)
    await own.client.close()
    await own.host.close()

    const notices = () =>
      own.client.events(session).flatMap((event) => (event.type === 'agent-preset/notice' ? [event.data] : []))
    const again = async (text: string) => {
      own = await Presets.start({}, { dataDir, work })
      await own.write('mine', text)
      const cold = await own.client.attach(session)
      expect(cold.composition).toBeUndefined()
    }
    await again(V1)
    await own.turn(session, 2)
    expect(notices()).toEqual([])
    await own.client.close()
    await own.host.close()

    await again(V2)
    await own.client.command('session.rename', { session, title: 'resumed' })
    await own.client.event(session, 'agent-preset/notice')
    expect(notices()).toMatchObject([
      { kind: 'changed', agentPreset: 'mine', from: { generation: 1 }, to: { generation: 2 } },
    ])
    await own.client.close()
    await own.host.close()

    await again(V2)
    await own.turn(session, 3)
    expect(notices()).toHaveLength(1)
    const headers = own.client.events(session).flatMap((event) => (event.type === 'request/header' ? [event.data] : []))
    expect(headers.map(({ composition }) => composition?.generation)).toEqual([1, 1, 2])
    expect(new Set(headers.map(({ composition }) => composition?.digest)).size).toBe(2)
    await own.host.remove()
  }, 60_000)

  test('H-16 a session whose preset is gone is read, forked out of, and goes on by itself when the preset is back', async () => {
    let own = await Presets.start({ mine: V1 })
    const { dataDir, work } = own.host
    const [session, blank] = [await own.session('mine'), await own.session('standard')]
    await own.turn(session, 1)
    await own.client.command('preset.select', { session: blank, preset: 'mine' })
    await own.client.close()
    await own.host.close()

    own = await Presets.start({}, { dataDir, work })
    await own.remove('mine')
    const cold = await own.client.attach(session)
    expect(cold.readOnly).toMatchObject({ code: 'agent-preset/not-found', details: { agentPreset: 'mine' } })
    expect(cold.events.some(({ type }) => type === 'assistant/message')).toBe(true)
    await expect(own.client.command('session.prompt', { session, text: 'go' })).rejects.toMatchObject({
      code: 'agent-preset/not-found',
    })
    const fork = (await own.client.command('session.fork', { session, preset: 'standard' })).session
    expect((await own.client.attach(fork)).composition?.preset).toBe('standard')

    // B05: the blank one of a preset that is gone stands in nobody's way, and can be switched.
    expect((await own.client.attach(blank)).readOnly?.code).toBe('agent-preset/not-found')
    await expect(own.client.command('preset.select', { session: blank, preset: 'absent' })).rejects.toMatchObject({
      code: 'agent-preset/not-found',
    })
    expect((await own.client.attach(blank)).readOnly?.code).toBe('agent-preset/not-found')
    expect(await own.client.command('preset.select', { session: blank, preset: 'minimal' })).toEqual({
      preset: 'minimal',
    })
    expect((await own.client.attach(blank)).composition?.preset).toBe('minimal')

    const from = own.client.frames.length
    await own.write('mine', V1)
    const healed = await own.status(session, from)
    expect([healed.readOnly, healed.writer]).toEqual([undefined, { kind: 'none' }])
    await own.turn(session, 2)
    await own.host.remove()
  }, 60_000)
})
