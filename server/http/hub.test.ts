import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../wire/events.ts'
import { CoreError } from '../wire/errors.ts'
import type { ServerFrame } from '../wire/protocol.ts'
import type { HostFacts, SessionRow, WorkspaceRow } from '../wire/views.ts'
import type { SessionView } from '../session/view.ts'
import { Hub, type Viewer } from './hub.ts'

class Tab implements Viewer {
  readonly frames: ServerFrame[] = []
  congested = false
  #drained: (() => void)[] = []
  send(frame: string): void {
    this.frames.push(JSON.parse(frame) as ServerFrame)
  }
  onDrained(resume: () => void): void {
    this.#drained.push(resume)
  }
  drain(): void {
    this.congested = false
    for (const resume of this.#drained.splice(0)) resume()
  }
  of<T extends ServerFrame['t']>(type: T): Extract<ServerFrame, { t: T }>[] {
    return this.frames.filter((frame) => frame.t === type) as Extract<ServerFrame, { t: T }>[]
  }
}

const event = (seq: number, type = 'llm/warning'): LogEvent =>
  ({ type, seq, time: 1, data: { turn: 1, step: 1, feature: 'x' } }) as unknown as LogEvent

/** Sessions as growing arrays; counts who holds a view. */
class Host {
  readonly logs = new Map<string, LogEvent[]>()
  readonly held = new Map<string, number>()
  gate: Promise<void> | undefined
  readonly hub = new Hub((id) => this.open(id))
  async open(id: string): Promise<SessionView> {
    await this.gate
    const events = this.logs.get(id)
    if (!events) throw new CoreError('session/not-found', `There is no session ${id}.`)
    this.held.set(id, (this.held.get(id) ?? 0) + 1)
    return {
      id,
      header: { type: 'session', version: 1, id, createdAt: 1, isSeeded: false, writer: 't' },
      events,
      partial: false,
      state: () => ({ seq: events.length - 1 }) as never,
      writer: () => ({ kind: 'none' }),
      readOnly: () => undefined,
      composition: () => undefined,
      release: () => void this.held.set(id, this.held.get(id)! - 1),
    }
  }
  commit(id: string, type?: string): void {
    const events = this.logs.get(id)!
    const next = event(events.length, type)
    events.push(next)
    this.hub.events(id, [next])
  }
  tab(): Tab {
    const tab = new Tab()
    this.hub.open(tab)
    return tab
  }
}

function setup() {
  const host = new Host()
  host.logs.set('s', [event(0)])
  return { host, hub: host.hub, tab: host.tab() }
}

const row = (id: string, title: string) => ({ id, title }) as SessionRow

describe('who looks at what', () => {
  test('every look is given back once: by detaching, by looking again, and by closing the tab', async () => {
    const { host, hub, tab } = setup()
    const other = host.tab()
    for (const viewer of [tab, other, tab, tab]) await hub.attach(viewer, 's')
    expect(host.held.get('s')).toBe(2)
    hub.detach(tab, 's')
    hub.detach(tab, 's')
    expect(host.held.get('s')).toBe(1)
    hub.closed(other)
    expect([host.held.get('s'), hub.viewers('s')]).toEqual([0, 0])
  })

  test.each([
    ['detached', (hub: Hub, tab: Tab) => hub.detach(tab, 's')],
    ['closed', (hub: Hub, tab: Tab) => hub.closed(tab)],
  ])('a tab that %s while its session was still being read is not added, and holds nothing', async (_how, leave) => {
    const { host, hub, tab } = setup()
    const gate = Promise.withResolvers<void>()
    host.gate = gate.promise
    const attaching = hub.attach(tab, 's')
    leave(hub, tab)
    gate.resolve()
    await attaching
    host.commit('s')
    expect([host.held.get('s'), hub.viewers('s'), tab.frames]).toEqual([0, 0, []])
  })

  test('transient text of a session that is removed in the middle of a turn is let go', async () => {
    const { hub, tab } = setup()
    hub.delta('s', { turn: 1, step: 1, attempt: 1, block: 0, kind: 'text', text: 'half' })
    hub.rows([], ['s'])
    await hub.attach(tab, 's')
    expect(tab.of('delta')).toEqual([])
  })
})

describe('a tab that cannot keep up', () => {
  test('skips frames and gets one snapshot with everything once it has drained', async () => {
    const { host, hub, tab } = setup()
    await hub.attach(tab, 's')
    tab.congested = true
    for (let index = 0; index < 5; index++) host.commit('s')
    expect(tab.of('events')).toEqual([])
    tab.drain()
    await expect.poll(() => tab.of('snapshot').length).toBe(2)
    expect(tab.of('snapshot').at(-1)!.to).toBe(5)
    host.commit('s')
    expect(tab.of('events').flatMap(({ events }) => events.map(({ seq }) => seq))).toEqual([6])
  })

  test('that leaves and comes back before it has drained loses nothing either', async () => {
    const { host, hub, tab } = setup()
    await hub.attach(tab, 's')
    tab.congested = true
    host.commit('s')
    hub.detach(tab, 's')
    await hub.attach(tab, 's')
    host.commit('s')
    tab.drain()
    await expect.poll(() => tab.of('snapshot').at(-1)?.to).toBe(2)
    host.commit('s')
    expect(tab.of('events').at(-1)?.events[0]?.seq).toBe(3)
  })

  test('is shown the session as it is by then: opened for writing, or gone', async () => {
    const { host, hub, tab } = setup()
    host.logs.set('gone', [event(0)])
    for (const id of ['s', 'gone']) await hub.attach(tab, id)
    tab.congested = true
    host.commit('s')
    host.commit('gone')
    // A resume replaces the view: the cold one grows no more.
    host.logs.set('s', [...host.logs.get('s')!, event(2)])
    host.logs.delete('gone')
    tab.drain()
    await expect
      .poll(() => tab.of('attach-failed'))
      .toMatchObject([{ session: 'gone', error: { code: 'session/not-found' } }])
    expect(tab.of('snapshot').at(-1)).toMatchObject({ session: 's', to: 2 })
    expect([host.held.get('gone'), hub.viewers('gone')]).toEqual([0, 0])
  })

  test('gets the last state of lists and host facts that it missed, in two frames', () => {
    const { hub, tab } = setup()
    tab.congested = true
    hub.rows([row('a', 'old'), row('b', 'b')], [])
    hub.rows([row('a', 'new')], ['b'])
    hub.rows([row('c', 'c')], ['c', 'd'])
    hub.rows([row('d', 'restored')], [])
    hub.global({ workspaces: [{ id: 'one' } as WorkspaceRow] })
    hub.global({ host: { version: '2' } as HostFacts })
    hub.global({ workspaces: [] })
    tab.congested = false
    hub.rows([row('e', 'between')], [])
    expect(tab.frames).toEqual([])
    tab.drain()
    expect(tab.frames).toEqual([
      { t: 'global', workspaces: [], host: { version: '2' } },
      { t: 'sessions', rows: [row('a', 'new'), row('d', 'restored'), row('e', 'between')], removed: ['b', 'c'] },
    ])
    hub.rows([row('f', 'f')], [])
    expect(tab.frames).toHaveLength(3)
  })

  test('that asks for snapshot after snapshot without reading them does not heap them up', async () => {
    const { hub, tab } = setup()
    tab.congested = true
    for (let index = 0; index < 20; index++) await hub.attach(tab, 's')
    expect(tab.frames).toEqual([])
    tab.drain()
    await expect.poll(() => tab.of('snapshot').length).toBe(1)
  })
})
