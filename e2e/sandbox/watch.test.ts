import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readStat } from '../../server/terminal/process.ts'
import { unconfined } from '../../server/plugins/sandbox.fixture.ts'
import { startHost, type TestHost } from '../host.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'
import type { Client } from '../client.ts'
import type { ServerFrame } from '../../server/wire/protocol.ts'

type ShellFrame = Extract<ServerFrame, { t: 'shell' }>

let root: string
let host: TestHost
let mock: Mock
let client: Client
let lanes = 0

beforeEach(async () => {
  // Not below /tmp: a sandbox has its own.
  root = realpathSync(mkdtempSync('/var/tmp/core-web-watch-'))
  const work = join(root, 'work')
  mkdirSync(work)
  mock = await startMock()
  host = await startHost({ dataDir: join(root, 'data'), work, env: { HOME: root } })
  client = await host.connect()
  const provider = { id: 'mock', label: 'Mock', wire: 'chat', baseURL: `${mock.url}/v1`, key: 'none' } as const
  await client.command('provider.save', provider)
})

afterEach(async () => {
  await client.close()
  await host.remove()
  await mock.close()
  rmSync(root, { recursive: true, force: true })
})

async function session(permission: string): Promise<string> {
  const selection = { provider: 'mock', model: 'mock-model' }
  const workspace = await host.workspace(client)
  const made = await client.command('session.create', { workspace, preset: 'minimal', permission, selection })
  await client.attach(made.session)
  return made.session
}

async function run(id: string, command: string): Promise<void> {
  const lane = `lane-${++lanes}`
  mock.script(lane, [{ toolCalls: [{ name: 'bash', arguments: JSON.stringify({ command }) }] }, { text: 'done' }])
  await client.command('session.prompt', { session: id, text: `[[lane:${lane}]] go`, mode: 'queue' })
}

const textOf = (tab: Client) => tab.frames.map((frame) => (frame.t === 'shell' ? (frame.text ?? '') : '')).join('')
const sees = async (tab: Client, wanted: (frame: ShellFrame) => boolean) =>
  (await tab.until((frame) => frame.t === 'shell' && wanted(frame))) as ShellFrame

const missing = await unconfined()
const ways: [string, string | undefined][] = [
  ['full', undefined],
  ['workspace-write', missing],
]

for (const [permission, without] of ways) {
  const note = without === undefined ? '' : ` (nothing confines here: ${without})`

  test.skipIf(without !== undefined)(
    `a shell in mode ${permission}: watched by two tabs, answered in one, both in the log; a tab that goes stops watching${note}`,
    async () => {
      const id = await session(permission)
      const other = await host.connect()
      expect(await client.command('shell.watch', { session: id, watching: true })).toMatchObject({ running: null })
      await other.command('shell.watch', { session: id, watching: true, answering: true })
      await run(id, 'printf "Name? " >/dev/tty; head -n1 </dev/tty >got; echo "hello $(cat got)"')
      await sees(client, ({ view }) => view.running?.foreground === 'head' && view.answering)
      await other.command('shell.input', { session: id, text: 'Ada\n' })
      await client.turnEnd(id, 1)
      await sees(client, ({ view }) => view.running === null && view.pid !== undefined)
      expect(textOf(client)).toBe('Name? Ada\nhello Ada\n')
      expect(textOf(other)).toBe(textOf(client))
      const [call] = client.events(id).flatMap((event) => (event.type === 'tool/call' ? [event.data.callId] : []))
      await other.close()
      await client.event(id, 'terminal/watch', ({ data }) => !data.answering && data.watching)
      await expect(client.command('shell.input', { session: id, text: 'x\n' })).rejects.toMatchObject({
        code: 'shell/not-running',
      })
      await client.command('shell.watch', { session: id, watching: false })
      await client.event(id, 'terminal/watch', ({ data }) => !data.watching)
      const noted = client.events(id).filter(({ type }) => type.startsWith('terminal/'))
      expect(noted.map(({ type, data }) => ({ type, data }))).toEqual([
        { type: 'terminal/watch', data: { watching: true, answering: true } },
        { type: 'terminal/input', data: { callId: call, bytes: 4, text: 'Ada\n' } },
        { type: 'terminal/watch', data: { watching: true, answering: false } },
        { type: 'terminal/watch', data: { watching: false, answering: false } },
      ])
    },
  )
}

test('watching a blank session makes no file, and one that does not exist is refused', async () => {
  const id = await session('full')
  await client.command('shell.watch', { session: id, watching: true })
  await client.command('shell.watch', { session: id, watching: false })
  expect(client.events(id).filter(({ type }) => type.startsWith('terminal/'))).toEqual([])
  await expect(client.command('shell.watch', { session: 'none', watching: true })).rejects.toMatchObject({
    code: 'session/not-found',
  })
})

test('B44 twenty tabs that close while they watch leave nobody watching, and the agent keeps its shell', async () => {
  const id = await session('full')
  await run(id, 'A=kept')
  await client.turnEnd(id, 1)
  const { pid } = await client.command('shell.watch', { session: id, watching: true })
  await client.command('shell.watch', { session: id, watching: false })
  for (let round = 0; round < 20; round++) {
    const tab = await host.connect()
    // Half of them are gone before their command was answered.
    const watching = tab.command('shell.watch', { session: id, watching: true, answering: true })
    if (round % 2 === 0) await watching
    else watching.catch(() => undefined)
    await tab.close()
  }
  const watched = () => {
    const changes = client.events(id).flatMap((event) => (event.type === 'terminal/watch' ? [event.data] : []))
    return changes.at(-1)?.watching
  }
  await expect.poll(watched).toBe(false)
  expect(readStat(pid!)?.state).toBe('S')
  await host.host.service('sessions')!.remove(id)
  await expect.poll(() => readStat(pid!)).toBeUndefined()
})
