import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, mkdirSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOf } from '../server/wire/messages.ts'
import type { Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'
import { Puppet } from './puppet.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-disk-')))
const dataDir = join(folder, 'data')
mkdirSync(dataDir)
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=700', 'none', dataDir]).status === 0

const filler = join(dataDir, 'filler')
function fill(): void {
  const { bavail, bsize } = statfsSync(dataDir)
  writeFileSync(filler, Buffer.alloc(bavail * bsize))
}

/** More than the rest of the page that the log's last bytes lie in: a small append may still fit into a full disk. */
const LONG = 'word '.repeat(4_000)

describe.skipIf(!mounted)('a full disk (needs the right to mount a small one)', () => {
  let host: TestHost
  let puppet: Puppet
  let client: Client
  let session: string
  const open = async () => {
    host = await startHost({ dataDir, work: join(folder, 'work') })
    host.host.service('llm')!.add(puppet.route)
    client = await host.connect()
  }
  beforeAll(async () => {
    puppet = new Puppet()
    await open()
    const workspace = await host.workspace(client)
    const selection = { ...Puppet.selection, alsoDefault: false }
    session = (await client.command('session.create', { workspace, preset: 'minimal', selection })).session
    await client.attach(session)
  })
  afterAll(() => host?.remove())

  test('SL-07 in the middle of a turn: the answer is kept, no tool runs unrecorded, the session says why it is read-only', async () => {
    await client.command('session.prompt', { session, text: 'one' })
    const call = await puppet.next()
    await client.until((frame) => frame.t === 'sessions' && frame.rows.some(({ id }) => id === session))
    expect((await host.get('api/sessions')).status).toBe(200)
    fill()
    const marker = join(folder, 'work/ran')
    call
      .say(LONG)
      .call('c1', 'bash', { command: `touch ${marker}` })
      .finish('tool-calls')
    const told = await client.until((frame) => frame.t === 'writer' && frame.readOnly !== undefined)
    expect(told).toMatchObject({ session, readOnly: { code: 'session/read-only' } })
    expect(JSON.stringify(told)).toContain('The disk is full')
    await host.host.service('agents')!.get(session)!.whenIdle()
    expect(existsSync(marker)).toBe(false)
    const late = await host.connect()
    const snapshot = await late.attach(session)
    expect(snapshot.readOnly?.code).toBe('session/read-only')
    const answer = late.events(session).find((event) => event.type === 'assistant/message')
    expect(answer && textOf(answer.data.message)).toBe(LONG)
    await late.close()
  })

  test('SL-07 a command meanwhile is refused with the reason, and the list is still there', async () => {
    const refusal = client.command('session.prompt', { session, text: 'two' })
    await expect(refusal).rejects.toMatchObject({ code: 'session/read-only' })
    await expect(refusal).rejects.toThrow(/The disk is full/)
    const list = await host.get('api/sessions')
    expect([list.status, await list.json()]).toMatchObject([200, { rows: [{ id: session }] }])
  })

  test('SL-07 with space again it goes on by itself: nothing is lost, and the log on disk is whole', async () => {
    const from = client.frames.length
    rmSync(filler)
    await client.until((frame) => frame.t === 'writer' && frame.readOnly === undefined, from)
    const { message } = await client.command('session.prompt', { session, text: 'three' })
    const next = await puppet.next()
    const sent = next.request.messages.map((each) => textOf(each))
    expect(sent[0]).toBe('one')
    expect(sent[1]).toBe(LONG)
    expect(sent.at(-1)).toBe('three')
    next.say('fine').finish()
    await client.event(session, 'assistant/message', ({ data }) => textOf(data.message) === 'fine')
    const seen = client.events(session)
    expect(seen.some((event) => event.type === 'user/message' && event.data.message.id === message)).toBe(true)
    await host.close()
    await open()
    await client.attach(session)
    const stored = client.events(session)
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_event, index) => index))
    expect(stored.slice(0, seen.length)).toEqual(seen)
    const results = stored.flatMap((event) => (event.type === 'tool/result' ? [event.data.error?.code] : []))
    // The call stands in the log, so the model is told to check; that it did not run is what the first test proves.
    expect(results).toEqual(['TOOL_OUTCOME_UNKNOWN'])
  }, 30_000)
})

afterAll(() => {
  if (mounted) spawnSync('umount', ['-l', dataDir])
  rmSync(folder, { recursive: true, force: true })
})
