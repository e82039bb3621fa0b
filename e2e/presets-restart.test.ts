import { appendFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DEMO, documentOf, persona, Presets } from './presets.fixture.ts'

const mine = (text: string): string => documentOf('mine', persona(text))
const BROKEN = documentOf('mine', '- {id: bad, name: no-such-row}')

/** A host that can be started again on the same folders. */
async function restartable(documents: Record<string, string>) {
  let lab = await Presets.start(documents)
  const { dataDir, work } = lab.host
  const first = lab
  onTestFinished(async () => {
    await lab.host.close()
    await first.host.remove()
  })
  return {
    get lab() {
      return lab
    },
    /** `change` works on the host before any tab has looked at a session. */
    async again(change: (next: Presets) => Promise<void> = async () => {}): Promise<Presets> {
      await lab.client.close()
      await lab.host.close()
      lab = await Presets.start({}, { dataDir, work })
      await change(lab)
      return lab
    },
  }
}

const toolsOf = (lab: Presets, session: string): string[][] =>
  lab.client
    .events(session)
    .flatMap((event) =>
      event.type === 'request/header' ? [event.data.header.tools?.map(({ name }) => name) ?? []] : [],
    )
const noticesOf = (lab: Presets, session: string) =>
  lab.client.events(session).flatMap((event) => (event.type === 'agent-preset/notice' ? [event.data] : []))

test('H-09 H-17 after a restart a switched session and a fork out of it compose by the projection, not by an older preset', async () => {
  const host = await restartable({})
  const switched = await host.lab.session('standard')
  await host.lab.client.command('preset.select', { session: switched, preset: 'minimal' })
  await host.lab.turn(switched, 1)
  const { session: fork } = await host.lab.client.command('session.fork', { session: switched, preset: 'standard' })
  const { session: plain } = await host.lab.client.command('session.fork', { session: switched })

  const lab = await host.again()
  const standard = lab.row('standard')!.tools.map(({ name }) => name)
  const minimal = lab.row('minimal')!.tools.map(({ name }) => name)
  for (const [session, created, current, tools] of [
    [switched, 'standard', 'minimal', minimal],
    [fork, 'standard', 'standard', standard],
    [plain, 'minimal', 'minimal', minimal],
  ] as const) {
    const cold = await lab.client.attach(session)
    if (cold.t !== 'snapshot') throw new Error('a cold session answers with a snapshot')
    expect([cold.header.agentPreset, cold.state.preset.current, cold.composition]).toEqual([
      created,
      current,
      undefined,
    ])
    const from = lab.client.frames.length
    await lab.turn(session, 2)
    const live = await lab.status(session, from, ({ writer }) => writer.kind === 'here')
    expect(live.composition?.preset).toBe(current)
    expect(toolsOf(lab, session).at(-1)).toEqual(tools)
  }
}, 60_000)

test('H-16 a session of a renamed preset goes on under the new name, and says so once', async () => {
  const host = await restartable({ code: documentOf('code', persona('Words.')) })
  const session = await host.lab.session('code')
  await host.lab.turn(session, 1)
  await host.again(async (next) => {
    await next.remove('code')
    await next.write('ptc', documentOf('ptc', persona('Words.')))
  })
  await host.lab.client.attach(session)
  await host.lab.turn(session, 2)
  const expected = [{ kind: 'renamed', agentPreset: 'ptc', message: expect.stringContaining('code is called ptc') }]
  expect(noticesOf(host.lab, session)).toMatchObject(expected)
  const headers = host.lab.client
    .events(session)
    .flatMap((event) => (event.type === 'request/header' ? [event.data.composition?.preset] : []))
  expect([headers[0], headers.at(-1)]).toEqual(['code', 'ptc'])
  await host.again()
  await host.lab.client.attach(session)
  await host.lab.turn(session, 3)
  expect(noticesOf(host.lab, session)).toHaveLength(1)
}, 60_000)

test('H-16 a session that made no request has nothing to be told when its preset changes', async () => {
  const host = await restartable({ mine: mine('One.') })
  const session = await host.lab.session('mine')
  await host.lab.client.command('session.rename', { session, title: 'kept' })
  await host.again((next) => next.write('mine', mine('Two.')))
  await host.lab.client.attach(session)
  await host.lab.turn(session, 1)
  expect(noticesOf(host.lab, session)).toEqual([])
}, 60_000)

test('H-16 a broken preset is told as broken, its blank session can be switched, and mending it frees the open tabs', async () => {
  const host = await restartable({ mine: mine('One.') })
  const used = await host.lab.session('mine')
  await host.lab.turn(used, 1)
  const blank = await host.lab.session('mine')
  await host.lab.client.command('session.rename', { session: blank, title: 'kept' })
  const lab = await host.again((next) => next.write('mine', BROKEN))
  const { client } = lab
  const cold = await client.attach(used)
  expect(cold.readOnly).toMatchObject({
    code: 'agent-preset/invalid',
    details: { agentPreset: 'mine', reason: expect.stringContaining('no-such-row') },
  })
  expect(cold.events.some(({ type }) => type === 'assistant/message')).toBe(true)
  await expect(client.command('session.prompt', { session: used, text: 'go' })).rejects.toMatchObject({
    code: 'agent-preset/invalid',
  })
  await expect(client.command('session.fork', { session: used })).rejects.toMatchObject({
    code: 'agent-preset/invalid',
  })
  const report = await client.command('session.fork-check', { session: used, preset: 'minimal' })
  // What cannot be assembled now has no cost to compare with.
  expect(report.tokens).toEqual({ after: expect.any(Number) })
  const fork = (await client.command('session.fork', { session: used, preset: 'minimal' })).session
  await client.attach(fork)
  await lab.turn(fork, 2)

  expect((await client.attach(blank)).readOnly?.code).toBe('agent-preset/invalid')
  await client.command('preset.select', { session: blank, preset: 'minimal' })
  await lab.turn(blank, 1)

  const from = client.frames.length
  await lab.write('mine', mine('Three.'))
  const healed = await lab.status(used, from)
  expect([healed.readOnly, healed.writer, healed.composition]).toEqual([undefined, { kind: 'none' }, undefined])
  await lab.turn(used, 2)
}, 60_000)

test('B05 SL-10 a damaged session of a preset that is gone is read and forked at its last good turn into another', async () => {
  const host = await restartable({ mine: mine('One.') })
  const session = await host.lab.session('mine')
  await host.lab.turn(session, 1)
  const { dataDir } = host.lab.host
  const lab = await host.again(async (next) => {
    await next.remove('mine')
    const sessions = join(dataDir, 'sessions')
    const [log] = (await readdir(sessions, { recursive: true })).filter((name) => name.endsWith('log.jsonl'))
    await appendFile(join(sessions, log!), 'not a record\n{"nor":"this"}\n')
  })
  const cold = await lab.client.attach(session)
  expect(cold.readOnly).toMatchObject({ code: 'session/corrupt' })
  const good = cold.events.findLast(({ type }) => type === 'turn/end')!.seq
  const report = await lab.client.command('session.fork-check', { session, preset: 'minimal' })
  expect(report.preset).toBe('minimal')
  const fork = (await lab.client.command('session.fork', { session, preset: 'minimal' })).session
  const made = await lab.client.attach(fork)
  if (made.t !== 'snapshot') throw new Error('a first look is a snapshot')
  expect([made.header.seedSeq, made.composition?.preset]).toEqual([good, 'minimal'])
  await lab.turn(fork, 2)
}, 60_000)

test('B05 a blank session that is open only to be given another preset takes no prompt, however it comes', async () => {
  const host = await restartable({ mine: mine('One.') })
  const session = await host.lab.session('mine')
  await host.lab.client.command('session.rename', { session, title: 'kept' })
  const lab = await host.again((next) => next.remove('mine'))
  const { client } = lab
  await client.attach(session)
  const gate = Promise.withResolvers<void>()
  const { registry } = lab.host.host.service('agentPresets')!
  const retain = registry.retain.bind(registry)
  vi.spyOn(registry, 'retain').mockImplementationOnce(async (...args) => {
    await gate.promise
    return retain(...args)
  })
  const from = client.frames.length
  const switching = client.command('preset.select', { session, preset: 'minimal' })
  const open = await lab.status(session, from, ({ writer }) => writer.kind === 'here')
  expect(open.composition).toBeUndefined()
  const refused = { code: 'agent-preset/invalid', details: { agentPreset: 'mine' } }
  await expect(client.command('session.prompt', { session, text: 'go' })).rejects.toMatchObject(refused)
  await expect(client.command('session.create', { session, selection: DEMO, prompt: 'go' })).rejects.toMatchObject(
    refused,
  )
  gate.resolve()
  await switching
  await lab.turn(session, 1)
  expect(toolsOf(lab, session)).toEqual([lab.row('minimal')!.tools.map(({ name }) => name)])
}, 60_000)

test('B05 two switches of one blank session of a gone preset: the one that fails does not close it under the other', async () => {
  const host = await restartable({ mine: mine('One.') })
  const session = await host.lab.session('mine')
  await host.lab.client.command('session.rename', { session, title: 'kept' })
  const lab = await host.again((next) => next.remove('mine'))
  const { client } = lab
  const [failed, done] = await Promise.allSettled([
    client.command('preset.select', { session, preset: 'absent' }),
    client.command('preset.select', { session, preset: 'minimal' }),
  ])
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'agent-preset/not-found' } })
  expect(done).toEqual({ status: 'fulfilled', value: { preset: 'minimal' } })
  expect((await client.attach(session)).composition?.preset).toBe('minimal')
}, 60_000)
