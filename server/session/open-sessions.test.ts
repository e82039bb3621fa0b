import { appendFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { CoreError, type WireError } from '../wire/errors.ts'
import { draft, type LogEvent } from '../wire/events.ts'
import type { Writer } from '../wire/protocol.ts'
import { newHeader } from '../log/store.ts'
import type { Presets } from './ports.ts'
import { created, rig, turn, type Rig } from './session.fixture.ts'

/** What one session's tabs are told, with a way to wait for it. */
function listen(from: Rig, id: string) {
  const events: LogEvent[] = []
  const writers: { writer: Writer; readOnly: WireError | undefined }[] = []
  const waiting = new Set<() => void>()
  const look = () => waiting.forEach((check) => check())
  from.sessions.feeds.add({
    events: (session, more) => {
      if (session === id) events.push(...more)
      look()
    },
    writer: (session, writer, readOnly) => {
      if (session === id) writers.push({ writer, readOnly })
      look()
    },
    delta() {},
    output() {},
    rows() {},
  })
  const until = (there: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!there()) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  return { events, writers, until, seqs: () => events.map(({ seq }) => seq) }
}

const NO_PRESET: Presets = {
  resolve: async (id = '') => {
    throw new CoreError('agent-preset/not-found', `There is no preset "${id}".`, { agentPreset: id, available: [] })
  },
  mount: async (_scope, id) => (await NO_PRESET.resolve(id)).id,
  leave: async () => {},
  select: async () => '',
  declarationDigest: () => undefined,
  composition: () => undefined,
  generations: () => [],
  generationOf: () => 0,
  describe: async (id) => NO_PRESET.resolve(id) as never,
  onChange: () => () => {},
}

/** Everything that is asked for is there, under any name. */
const ANY_PRESET: Presets = {
  ...NO_PRESET,
  resolve: async (id = 'x') => ({ id }),
  mount: async () => 'x',
  composition: () => ({ preset: 'x', generation: 1, digest: 'x' }),
}

/** A session on disk that no process holds, after one finished turn. */
async function stored(): Promise<{ id: string; dataDir: string }> {
  const first = await rig()
  const id = await created(first)
  await turn(first, id)
  await first.sessions.close()
  return { id, dataDir: first.dataDir }
}

const logFile = (dataDir: string): string => {
  const folder = join(dataDir, 'sessions')
  const name = readdirSync(folder, { recursive: true }).find((path) => String(path).endsWith('log.jsonl'))
  return join(folder, String(name))
}

describe('reading', () => {
  test('a cold view stays as long as one of its tabs looks, and is read anew after the last', async () => {
    const { id, dataDir } = await stored()
    const from = await rig({ dataDir })
    const [one, two] = await Promise.all([from.sessions.view(id), from.sessions.view(id)])
    expect(two).toBe(one)
    one.release()
    expect(await from.sessions.view(id)).toBe(one)
    two.release()
    one.release()
    expect(await from.sessions.view(id)).not.toBe(one)
  })

  test('a view that is asked for while the last tab leaves still follows the other process', async () => {
    const first = await rig()
    const id = await created(first)
    await turn(first, id)
    const second = await rig({ dataDir: first.dataDir })
    const heard = listen(second, id)
    const leaving = await second.sessions.view(id)
    const coming = second.sessions.view(id)
    leaving.release()
    const view = await coming
    await turn(first, id, 'more')
    const last = first.sessions.live(id)!.log.lastSeq
    await heard.until(() => heard.events.at(-1)?.seq === last)
    expect(view.events.length).toBe(last + 1)
  })

  test('a late release does not close the view of those who came after a removal', async () => {
    const { id, dataDir } = await stored()
    const from = await rig({ dataDir })
    const old = await from.sessions.view(id)
    await from.sessions.remove(id)
    await from.sessions.restore(id)
    const next = await from.sessions.view(id)
    old.release()
    expect(await from.sessions.view(id)).toBe(next)
  })

  test('F-13 a session that the other process has closed is free again, and its tabs are told', async () => {
    const first = await rig()
    const id = await created(first)
    await turn(first, id)
    const second = await rig({ dataDir: first.dataDir })
    const heard = listen(second, id)
    const view = await second.sessions.view(id)
    expect(view.writer()).toMatchObject({ kind: 'elsewhere' })
    await first.sessions.close()
    await second.sessions.view(id)
    expect(view.writer()).toEqual({ kind: 'none' })
    expect(heard.writers.at(-1)).toMatchObject({ writer: { kind: 'none' } })
    await turn(second, id, 'here now')
  })

  test('H-16 a preset that is back lets the same tab send without a restart', async () => {
    const { id, dataDir } = await stored()
    const known = ANY_PRESET
    const made = await rig({ presets: known })
    const used = await created(made, { preset: 'x' })
    await turn(made, used)
    await made.sessions.close()
    let there = false
    const presets: Presets = { ...known, resolve: (name) => (there ? known : NO_PRESET).resolve(name) }
    const from = await rig({ dataDir: made.dataDir, presets })
    expect((await from.sessions.view(used)).readOnly()).toMatchObject({ code: 'agent-preset/not-found' })
    there = true
    expect((await from.sessions.view(used)).readOnly()).toBeUndefined()
    expect((await (await rig({ dataDir })).sessions.view(id)).readOnly()).toBeUndefined()
  })

  test('B25 a history page of a session that nobody shows is read from the file, without the rest of the log', async () => {
    const { id, dataDir } = await stored()
    const from = await rig({ dataDir })
    const whole = vi.spyOn(from.store, 'openRead')
    const page = await from.sessions.page(id, { before: 6, limit: 4 })
    expect(page.map(({ seq }) => seq)).toEqual([2, 3, 4, 5])
    expect(whole).not.toHaveBeenCalled()
    const view = await from.sessions.view(id)
    expect(await from.sessions.page(id, { before: 6, limit: 4 })).toEqual(page)
    expect(view.events.slice(2, 6)).toEqual(page)
  })

  test('SL-10 a page of a damaged log ends before the damage', async () => {
    const { id, dataDir } = await stored()
    appendFileSync(logFile(dataDir), 'not a record\n{"nor":"this"}\n')
    const from = await rig({ dataDir })
    const page = await from.sessions.page(id, { limit: 3 })
    const view = await from.sessions.view(id)
    expect(view.readOnly()).toMatchObject({ code: 'session/corrupt' })
    expect(page.at(-1)).toEqual(view.events.at(-1))
  })
})

describe('taking over', () => {
  test('two prompts at a cold session that is shown: every event is told once, in order', async () => {
    const { id, dataDir } = await stored()
    const from = await rig({ dataDir })
    const view = await from.sessions.view(id)
    const before = view.events.length
    const heard = listen(from, id)
    await Promise.all([from.sessions.prompt(id, 'a', 'queue'), from.sessions.prompt(id, 'b', 'queue')])
    await from.sessions.live(id)!.agent.whenIdle()
    const total = from.sessions.live(id)!.events.length
    expect(heard.seqs()).toEqual(Array.from({ length: total - before }, (_none, index) => before + index))
    expect(heard.writers.map(({ writer }) => writer)).toEqual([{ kind: 'here' }])
    expect(await from.sessions.view(id)).toBe(from.sessions.live(id))
  })

  test('a view asked for while the session is being opened for writing is the live one', async () => {
    const { id, dataDir } = await stored()
    const from = await rig({ dataDir })
    const [view] = await Promise.all([from.sessions.view(id), from.sessions.prompt(id, 'go', 'queue')])
    expect([from.sessions.live(id), await from.sessions.view(id)]).toContain(view)
    expect(await from.sessions.view(id)).toBe(from.sessions.live(id))
  })

  test('H-16 a resume that fails repairs the tail, and the session is nobody’s: its tabs do not see a foreign writer', async () => {
    const first = await rig()
    const log = first.store.create(
      newHeader({ id: 'open-tail', createdAt: 1, cwd: '/tmp', agentPreset: 'gone', writer: 't' }),
    )
    log.append(draft('turn/start', { turn: 1 }))
    await log.close()
    const from = await rig({ dataDir: first.dataDir, presets: NO_PRESET })
    const heard = listen(from, 'open-tail')
    const view = await from.sessions.view('open-tail')
    await expect(from.sessions.prompt('open-tail', 'go', 'queue')).rejects.toMatchObject({
      code: 'agent-preset/not-found',
    })
    await heard.until(() => heard.events.some(({ type }) => type === 'turn/end'))
    expect(view.writer()).toEqual({ kind: 'none' })
    expect(await from.sessions.view('open-tail')).toBe(view)
    expect(heard.writers.filter(({ writer }) => writer.kind === 'elsewhere')).toEqual([])
  })

  test('H-16 a fork whose preset is gone is refused with the code and leaves no file', async () => {
    const first = await rig({ presets: ANY_PRESET })
    const id = await created(first, { preset: 'x' })
    await turn(first, id)
    await first.sessions.close()
    const from = await rig({ dataDir: first.dataDir, presets: NO_PRESET })
    await expect(from.sessions.fork(id, {})).rejects.toMatchObject({ code: 'agent-preset/not-found' })
    expect((await from.store.list()).map((file) => file.id)).toEqual([id])
  })
})

describe('ending', () => {
  test('a prompt to a session that is being closed is refused once, and ends no process', async () => {
    const from = await rig()
    const session = from.sessions.live(await created(from))!
    await session.dispose()
    await expect(session.prompt('too late', 'queue')).rejects.toMatchObject({ code: 'gateway/cancelled' })
    expect(session.events).toEqual([])
  })

  test('a session that is read only here is gone for its tabs too, and follows again after it came back', async () => {
    const { id, dataDir } = await stored()
    const from = await rig({ dataDir })
    const heard = listen(from, id)
    await from.sessions.view(id)
    await from.sessions.remove(id)
    expect(heard.writers.at(-1)?.readOnly).toMatchObject({ code: 'session/not-found' })
    await expect(from.sessions.view(id)).rejects.toMatchObject({ code: 'session/not-found' })
    await from.sessions.restore(id)
    expect(heard.writers.at(-1)).toEqual({ writer: { kind: 'none' }, readOnly: undefined })
    const view = await from.sessions.view(id)
    const other = await rig({ dataDir })
    await turn(other, id, 'from elsewhere')
    const last = other.sessions.live(id)!.log.lastSeq
    await heard.until(() => heard.events.at(-1)?.seq === last)
    expect(view.events.length).toBe(last + 1)
  })

  test('a session whose file comes only with its closing does not survive its removal', async () => {
    const from = await rig()
    const id = await created(from)
    from.sessions.live(id)!.log.append(draft('session/title', { title: 'unsaved', source: 'user' }))
    await from.sessions.remove(id)
    expect(await from.store.list()).toEqual([])
  })

  test('removing, prompting and viewing at once: one order, no half session', async () => {
    const { id, dataDir } = await stored()
    const from = await rig({ dataDir })
    const results = await Promise.allSettled([
      from.sessions.prompt(id, 'first', 'queue'),
      from.sessions.remove(id),
      from.sessions.prompt(id, 'late', 'queue'),
      from.sessions.view(id),
    ])
    expect(results[1].status).toBe('fulfilled')
    for (const result of [results[2], results[3]])
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'session/not-found' } })
    expect([from.sessions.live(id), from.agents.list(), await from.store.list()]).toEqual([undefined, [], []])
    await from.sessions.restore(id)
    await turn(from, id, 'again')
  })

  test('a removed session does not come back over one of the same id that is open', async () => {
    const from = await rig()
    const id = await created(from)
    await turn(from, id)
    await from.sessions.remove(id)
    await created(from, { session: id })
    await expect(from.sessions.restore(id)).rejects.toMatchObject({ code: 'session/conflict' })
    await turn(from, id)
  })

  test('SL-23 the last state of a session gets into the list when the host closes', async () => {
    const from = await rig()
    const id = await created(from)
    await turn(from, id)
    await from.sessions.close()
    expect(from.index.rows.get(id)).toMatchObject({ turns: 1, status: 'idle' })
  })
})
