import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unconfined } from '../server/plugins/sandbox.fixture.ts'
import type { EventData, LogEvent } from '../server/wire/events.ts'
import type { Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'
import { startMock, type Mock } from './mock-llm/server.ts'
import { startServer } from './process.ts'

let mock: Mock
let host: TestHost
let tab: Client
let workspace: string
let outside: string
let root: string
let lanes = 0

const addModel = async (client: Client) => {
  await client.command('provider.save', {
    id: 'mock',
    label: 'Mock',
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    key: 'none',
    options: { models: ['m'] },
  })
  await client.command('model.default', { provider: 'mock', model: 'm' })
}

beforeAll(async () => {
  mock = await startMock()
  // Outside of /tmp, which a session sees its own files in.
  root = realpathSync(mkdtempSync('/var/tmp/core-web-asks-'))
  host = await startHost({ dataDir: join(root, 'data'), work: join(root, 'work') })
  tab = await host.connect()
  workspace = await host.workspace(tab)
  outside = join(root, 'outside')
  mkdirSync(outside)
  await addModel(tab)
}, 60_000)
afterAll(async () => {
  await host?.remove()
  await mock?.close()
  rmSync(root, { recursive: true, force: true })
})

const call = (name: string, args: object, id = 'call-1') => ({
  toolCalls: [{ id, name, arguments: JSON.stringify(args) }],
})
const write = (path: string, id?: string) => call('write', { file_path: path, content: 'x' }, id)

/** A session that asks the scripted model once; its calls are the replies, then it ends with a text. */
async function asked(permission: string, ...replies: object[]) {
  const lane = `lane-${++lanes}`
  mock.script(lane, [...replies, { text: 'done' }])
  const { session } = await tab.command('session.create', { workspace, permission })
  await tab.attach(session)
  await tab.command('session.prompt', { session, text: `[[lane:${lane}]] go` })
  return session
}

type Of<T extends LogEvent['type']> = Extract<LogEvent, { type: T }>
const all = <T extends LogEvent['type']>(session: string, type: T, by = tab) =>
  by.events(session).filter((event): event is Of<T> => event.type === type)

async function question(session: string, number = 1, by = tab): Promise<EventData['approval/asked']> {
  await by.until(() => all(session, 'approval/asked', by).length >= number)
  return all(session, 'approval/asked', by)[number - 1]!.data
}

const answer = (
  session: string,
  { id, digest }: { id: string; digest: string },
  how: 'once' | 'session' | 'reject',
  { note, by = tab }: { note?: string; by?: Client } = {},
) => by.command('approval.answer', { session, approval: id, digest, answer: how, ...(note !== undefined && { note }) })

const resultsOf = (session: string) =>
  all(session, 'tool/result').map(({ data }) => {
    const [block] = data.message.content
    if (block?.type !== 'tool-result') throw new Error('no result')
    return {
      code: data.error?.code,
      text: block.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    }
  })

describe('what is asked before it runs', () => {
  test('allowed once: it runs, once; the pair stands inside the turn, and the list says that somebody is needed', async () => {
    const first = join(host.work, 'once-1')
    const second = join(host.work, 'once-2')
    const session = await asked('ask', write(first), write(second, 'call-2'))
    const one = await question(session)
    expect(one).toMatchObject({
      toolName: 'write',
      callId: 'call-1',
      kind: 'approve',
      touches: [first],
      cwd: host.work,
      waitMs: 600_000,
    })
    expect(existsSync(first)).toBe(false)
    await tab.until(
      (frame) => frame.t === 'sessions' && frame.rows.some((row) => row.id === session && row.status === 'needs-you'),
    )
    expect(await answer(session, one, 'once')).toEqual({ outcome: 'allowed-once' })
    const two = await question(session, 2)
    expect(existsSync(first)).toBe(true)
    expect(two.id).not.toBe(one.id)
    await answer(session, two, 'reject', { note: '  use another name ' })
    await tab.turnEnd(session, 1)
    expect(existsSync(second)).toBe(false)
    expect(resultsOf(session)[1]).toEqual({
      code: 'PERMISSION_REJECTED',
      text: 'Not run. A person declined this call. They say: use another name',
    })
    const types = tab.events(session).map(({ type }) => type)
    expect(types.lastIndexOf('approval/decided')).toBeLessThan(types.lastIndexOf('turn/end'))
    expect(all(session, 'approval/decided').map(({ data }) => [data.id, data.outcome, data.note])).toEqual([
      [one.id, 'allowed-once', undefined],
      [two.id, 'rejected', 'use another name'],
    ])
  })

  test('allowed for the session: the same command passes from then on, another one does not', async () => {
    const run = (command: string, id: string) => call('bash', { command, description: 'x' }, id)
    const session = await asked('ask', run('echo one', 'a'), run('echo one two', 'b'), run('echo one; echo two', 'c'))
    expect(await answer(session, await question(session), 'session')).toEqual({ outcome: 'allowed-session' })
    const next = await question(session, 2)
    expect(next).toMatchObject({ callId: 'c', args: { command: 'echo one; echo two' } })
    expect(all(session, 'permission/rules').at(-1)?.data.rules).toMatchObject([
      { effect: 'allow', tool: 'bash', match: { kind: 'prefix', text: 'echo one' }, scope: 'session' },
    ])
    await answer(session, next, 'reject')
    await tab.turnEnd(session, 1)
    expect(resultsOf(session).map(({ code }) => code)).toEqual([undefined, undefined, 'PERMISSION_REJECTED'])
  })

  test('an answer to something else is refused: other arguments, twice, unknown, another session', async () => {
    const session = await asked('ask', write(join(host.work, 'digest')))
    const other = (await tab.command('session.create', { workspace })).session
    const one = await question(session)
    await expect(answer(session, { ...one, digest: 'x' }, 'once')).rejects.toMatchObject({
      code: 'approval/wrong-digest',
    })
    await expect(answer(other, one, 'once')).rejects.toMatchObject({ code: 'approval/not-found' })
    await expect(answer(session, { ...one, id: 'gone' }, 'once')).rejects.toMatchObject({ code: 'approval/not-found' })
    await answer(session, one, 'once')
    await expect(answer(session, one, 'reject')).rejects.toMatchObject({
      code: 'approval/answered',
      details: { outcome: 'allowed-once' },
    })
    await tab.turnEnd(session, 1)
  })

  test('stopped while it waits: withdrawn, and an answer afterwards is too late', async () => {
    const session = await asked('ask', write(join(host.work, 'stopped')))
    const one = await question(session)
    await tab.command('session.stop', { session })
    await tab.turnEnd(session, 1)
    expect(all(session, 'approval/decided').map(({ data }) => data.outcome)).toEqual(['cancelled'])
    await expect(answer(session, one, 'once')).rejects.toMatchObject({ code: 'approval/answered' })
    expect(existsSync(join(host.work, 'stopped'))).toBe(false)
  })

  test('B70 a tab that comes later, or again, has the open question in its snapshot, and any tab may answer', async () => {
    const session = await asked('ask', write(join(host.work, 'late')))
    const one = await question(session)
    const late = await host.connect()
    const snapshot = await late.attach(session)
    const state = snapshot.t === 'snapshot' ? snapshot.state : { asks: [] }
    expect(state.asks).toMatchObject([{ id: one.id, digest: one.digest }])
    await answer(session, state.asks[0]!, 'once', { by: late })
    await late.close()
    await tab.turnEnd(session, 1)
    expect(existsSync(join(host.work, 'late'))).toBe(true)
  })

  test('of two tabs that answer at once exactly one is told that it decided', async () => {
    const second = await host.connect()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('once', 'reject'),
        fc.constantFrom('once', 'reject'),
        fc.boolean(),
        async (a, b, swap) => {
          const session = await asked('ask', write(join(host.work, `race-${lanes}`)))
          const one = await question(session)
          const sends = [() => answer(session, one, a), () => answer(session, one, b, { by: second })]
          const told = await Promise.allSettled((swap ? sends.toReversed() : sends).map((send) => send()))
          await tab.turnEnd(session, 1)
          const winners = told.flatMap((each) => (each.status === 'fulfilled' ? [each.value.outcome] : []))
          expect(winners).toEqual(all(session, 'approval/decided').map(({ data }) => data.outcome))
          expect(
            told.flatMap((each) => (each.status === 'rejected' ? [(each.reason as { code: string }).code] : [])),
          ).toEqual(['approval/answered'])
        },
      ),
      { numRuns: 30 },
    )
    await second.close()
  }, 120_000)
})

describe('what leaves the session’s places', () => {
  test('a file outside is asked about, also where edits are free; yes writes it there', async () => {
    const path = join(outside, 'yes')
    const session = await asked('workspace-write', write(path))
    const one = await question(session)
    expect(one).toMatchObject({ kind: 'escalate', touches: [path] })
    // No rule opens a place: for the session is for this once.
    expect(await answer(session, one, 'session')).toEqual({ outcome: 'allowed-once' })
    await tab.turnEnd(session, 1)
    expect(readFileSync(path, 'utf8')).toBe('x')
  })

  test.each(['standard', 'minimal'])(
    '%s: hidden, protected and read-only places are told apart, and nobody is asked',
    async (preset) => {
      const edit = (path: string, id: string) =>
        preset === 'standard'
          ? write(path, id)
          : call('str_replace_editor', { command: 'create', path, file_text: 'x' }, id)
      const view = (path: string) =>
        preset === 'standard'
          ? call('read', { file_path: path }, 'v')
          : call('str_replace_editor', { command: 'view', path }, 'v')
      const lane = `lane-${++lanes}`
      mock.script(lane, [view(join(host.dataDir, 'token')), edit(join(host.dataDir, 'x'), 'b'), { text: 'done' }])
      const { session } = await tab.command('session.create', { workspace, preset })
      await tab.attach(session)
      await tab.command('session.prompt', { session, text: `[[lane:${lane}]] go` })
      await tab.turnEnd(session, 1)
      expect(resultsOf(session).map(({ code }) => code)).toEqual(['PERMISSION_HIDDEN', 'PERMISSION_HIDDEN'])
      expect(JSON.stringify(tab.events(session))).not.toContain(host.token)
      await tab.command('permission.select', { session, preset: 'full' })
      mock.script(lane, [edit(join(outside, `full-${preset}`), 'c'), { text: 'done' }])
      await tab.command('session.prompt', { session, text: `[[lane:${lane}]] again` })
      await tab.turnEnd(session, 2)
      expect(existsSync(join(outside, `full-${preset}`))).toBe(true)
      expect(all(session, 'approval/asked')).toEqual([])
    },
  )
})

const without = await unconfined()

describe.skipIf(without !== undefined)(
  `where something confines${without === undefined ? '' : ` (not here: ${without})`}`,
  () => {
    test.each(['standard', 'minimal'])(
      '%s: editor and shell say the same of a path, in every mode',
      async (preset) => {
        const lane = `lane-${++lanes}`
        const { session } = await tab.command('session.create', { workspace, preset })
        await tab.attach(session)
        let turn = 0
        const did = async (reply: object) => {
          mock.script(lane, [reply, { text: 'done' }])
          const before = resultsOf(session).length
          await tab.command('session.prompt', { session, text: `[[lane:${lane}]] ${turn}` })
          await tab.turnEnd(session, ++turn)
          return resultsOf(session)[before]!
        }
        const verdicts: [string, string, boolean, boolean][] = []
        for (const mode of ['read-only', 'workspace-write', 'full'] as const) {
          await tab.command('permission.select', {
            session,
            choice: {
              sandbox: mode,
              network: true,
              onAsk: mode === 'full' ? 'allow' : 'deny',
              edits: 'auto',
              commands: 'auto',
            },
          })
          for (const folder of [host.work, '/tmp', outside, host.dataDir]) {
            const name = join(folder, `${preset}-${mode}-${turn}`)
            const edited = await did(
              preset === 'standard'
                ? write(`${name}-e`, `e${turn}`)
                : call('str_replace_editor', { command: 'create', path: `${name}-e`, file_text: 'x' }, `e${turn}`),
            )
            const touched = await did(
              call(
                'bash',
                { command: `touch ${name}-t && echo fine`, ...(preset === 'standard' && { description: 'x' }) },
                `t${turn}`,
              ),
            )
            verdicts.push([mode, folder, edited.code === undefined, touched.text.includes('fine')])
            if (folder === '/tmp' && edited.code === undefined) rmSync(`${name}-e`, { force: true })
            if (folder === '/tmp') rmSync(`${name}-t`, { force: true })
          }
        }
        const expected = (mode: string, folder: string): boolean =>
          mode === 'full' || folder === '/tmp' || (mode === 'workspace-write' && folder === host.work)
        expect(verdicts).toEqual(
          verdicts.map(([mode, folder]) => [mode, folder, expected(mode, folder), expected(mode, folder)]),
        )
      },
      120_000,
    )

    test('what the editor writes to /tmp is what the shell reads there', async () => {
      const session = await asked(
        'workspace-write',
        write('/tmp/same-bytes', 'a'),
        call('bash', { command: 'cat /tmp/same-bytes; echo; echo more >>/tmp/same-bytes', description: 'x' }, 'b'),
        call('read', { file_path: '/tmp/same-bytes' }, 'c'),
      )
      await tab.turnEnd(session, 1)
      const [written, shown, read] = resultsOf(session)
      expect(written?.text).toBe('Created /tmp/same-bytes.')
      expect(shown?.text).toContain('x')
      expect(read?.text).toContain('more')
      expect(existsSync('/tmp/same-bytes')).toBe(false)
    })
  },
)

const logText = (dataDir: string, session: string): string =>
  globSync(join(dataDir, '**', `*${session}*`, '*.jsonl'))
    .concat(globSync(join(dataDir, '**', `*${session}*.jsonl`)))
    .map((file) => readFileSync(file, 'utf8'))
    .join('')

test('a question that the host dies over is closed as cancelled, inside its turn, when the session goes on', async () => {
  const killed = join(root, 'killed')
  {
    const first = await startServer({ dataDir: killed })
    const one = await first.connect()
    await addModel(one)
    const work = (await one.command('workspace.add', { path: outside, confirmed: true })).workspace.id
    const lane = `lane-${++lanes}`
    mock.script(lane, [write(join(outside, 'killed')), { text: 'back' }])
    const { session } = await one.command('session.create', { workspace: work, permission: 'ask' })
    await one.attach(session)
    await one.command('session.prompt', { session, text: `[[lane:${lane}]] go` })
    const open = await question(session, 1, one)
    // What tabs see may be a moment ahead of the disk.
    await expect.poll(() => logText(killed, session)).toContain('approval/asked')
    await first.kill()
    const second = await startServer({ dataDir: killed })
    const two = await second.connect()
    await two.command('session.prompt', { session, text: `[[lane:${lane}]] on` })
    await two.attach(session)
    await two.turnEnd(session, 2)
    const types = two.events(session).map(({ type }) => type)
    expect(all(session, 'approval/decided', two).map(({ data }) => [data.id, data.outcome])).toEqual([
      [open.id, 'cancelled'],
    ])
    expect(types.indexOf('approval/decided')).toBeLessThan(types.indexOf('turn/end'))
    expect(existsSync(join(outside, 'killed'))).toBe(false)
    await two.close()
    await second.stop()
  }
}, 60_000)
