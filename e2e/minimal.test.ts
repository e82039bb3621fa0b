import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { replayPatches } from '../server/headless/replay.ts'
import { refreshed, type Player } from '../server/model/replay/player.ts'
import { formatCassette } from '../server/model/replay/cassette.ts'
import type { LogEvent } from '../server/wire/events.ts'
import type { ToolSpec } from '../server/wire/messages.ts'
import type { Client } from './client.ts'
import { ROOT, startHost, type TestHost } from './host.ts'
import { hostileCatalog, hostilePatch } from './hostile.ts'
import { MESSAGES, PROMPT, SYSTEM, TOOLS } from './minimal.literals.ts'

const CASSETTES = join(ROOT, 'e2e/cassettes')
const CASSETTE = join(CASSETTES, 'minimal-web.jsonl')
const MODE = process.env['CORE_WEB_REPLAY'] === 'refresh' ? 'refresh' : 'replay'

describe('the minimal preset on the real host, without a key', () => {
  let host: TestHost
  let client: Client
  let session: string
  let player: Player
  let events: LogEvent[]

  beforeAll(async () => {
    host = await startHost({ catalog: hostileCatalog })
    await host.close()
    host = await startHost({
      dataDir: host.dataDir,
      work: host.work,
      catalog: hostileCatalog,
      patches: [hostilePatch, ...replayPatches(CASSETTE, { cwd: host.work }, MODE)],
    })
    player = host.host.service('replay')!
    client = await host.connect()
    const created = await client.command('session.create', {
      workspace: await host.workspace(client),
      preset: 'minimal',
      selection: { provider: 'scripted', model: 'scripted-1', alsoDefault: false },
    })
    session = created.session
    await client.attach(session)
    await client.command('session.prompt', { session, text: PROMPT })
    await client.turnEnd(session, 1)
    events = client.events(session)
    if (MODE === 'refresh') {
      const { cassette, changed } = refreshed(player)
      writeFileSync(CASSETTE, formatCassette(cassette))
      for (const line of changed) console.log(line)
    }
  }, 60_000)
  afterAll(() => host?.remove())

  const requests = () => player.cassette.calls.map((call) => player.seen.get(call)!)

  test('O-18 the turn ends as recorded: every call consumed, none missed', () => {
    expect(player.misses).toEqual([])
    expect(player.unused()).toEqual([])
    expect(events.find((event) => event.type === 'turn/end')?.data).toEqual({ turn: 1, reason: { kind: 'completed' } })
  })

  test('O-18 O-02 every request carries exactly the one sentence, whatever was registered against it', () => {
    expect(requests().map(({ systemText }) => systemText)).toEqual([SYSTEM, SYSTEM, SYSTEM, SYSTEM])
    const sent = events.filter(({ type }) => type !== 'request/origins')
    expect(JSON.stringify(sent)).not.toContain('HOSTILE')
  })

  test('O-18 what was kept out is named with its fate, once for the whole session', () => {
    const origins = events.filter((event) => event.type === 'request/origins')
    expect(origins).toHaveLength(1)
    const { sections, contexts } = origins[0]!.data
    const lost = (views: readonly { name: string; fate: string; by?: string }[]) =>
      views.flatMap(({ name, fate, by }) => (/^(test|web):|^policy$|^smuggled$/.test(name) ? [[name, fate, by]] : []))
    expect(lost(sections)).toEqual([
      ['test:identity', 'discarded', 'persona'],
      ['web:orientation', 'discarded', 'persona'],
      ['test:section', 'discarded', 'persona'],
    ])
    expect(lost(contexts)).toEqual([
      ['policy', 'suppressed', 'persona'],
      ['smuggled', 'dropped', 'persona'],
    ])
    expect(JSON.stringify(contexts)).not.toContain('HOSTILE-POLICY')
  })

  test('O-18 O-03 the tools are exactly the two, as literals', () => {
    const header = events.find((event) => event.type === 'request/header')!
    const tools = header.data.header.tools as ToolSpec[]
    expect(tools).toEqual(TOOLS)
    expect(tools.map(({ name }) => name)).toEqual(['bash', 'str_replace_editor'])
    const registered = host.host.service('tools')!.view(host.host.service('agents')!.get(session)!)
    expect(tools).toEqual(registered.map(({ spec }) => spec))
  })

  test('O-18 every message of every request is known to the letter', () => {
    const sent = requests().map(({ messages }) => messages)
    expect(sent.at(-1)).toEqual(MESSAGES)
    expect(sent).toEqual([1, 3, 5, 7].map((count) => MESSAGES.slice(0, count)))
  })

  test('O-18 no runtime context reached the log, the file service is bare, there is no compaction', () => {
    expect(events.some((event) => event.type === 'user/message' && event.data.message.source.kind !== 'user')).toBe(
      false,
    )
    const agent = host.host.service('agents')!.get(session)!
    const presets = host.host.service('agentPresets')!
    expect(presets.serviceFor(agent, 'fs')).toBeDefined()
    expect((presets.serviceFor(agent, 'fs') as { sandboxMode?: unknown }).sandboxMode).toBeUndefined()
    expect(presets.serviceFor(agent, 'compaction')).toBeUndefined()
    expect(host.host.service('compaction')).toBeUndefined()
  })

  test('O-19 directory and variable survived between two calls, and the editor numbered the lines', () => {
    const results = events.flatMap((event) =>
      event.type === 'tool/result' ? [JSON.stringify(event.data.message.content)] : [],
    )
    expect(results[1]).toContain(`survived\\n${host.work}/inner"`)
    expect(results[2]).toContain('     1  alpha\\n     2  beta')
  })

  test('O-19 RE-09 the fixture folder holds only cassettes and prompt locks', () => {
    expect(readdirSync(CASSETTES).filter((name) => !name.endsWith('.jsonl') && name !== 'prompt.lock.json')).toEqual([])
  })
})
