import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeLine } from '../../server/log/jsonl/line.ts'
import { inbox, waiting } from '../../server/projection/inbox.ts'
import { textOf } from '../../server/wire/messages.ts'
import type { LogEvent } from '../../server/wire/events.ts'
import type { Client } from '../client.ts'
import { ROOT } from '../host.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'
import { startServer, type Served } from '../process.ts'
import type { Arm, Armed } from './preload.ts'

const PRELOAD = join(ROOT, 'e2e/kill/preload.ts')

/** `first` kills on the way of a new session's first prompt, `next` on that of a later one. */
export interface Scenario {
  prompt: 'first' | 'next'
  on: Arm['arm']['on']
}

/** A data folder that outlives its servers, and a provider that answers every request at once. */
export class Bench {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-kill-')))
  readonly dataDir = join(this.root, 'data')
  readonly mock: Mock
  workspace = ''
  /** Text of every prompt that was acknowledged, by session. */
  readonly acked = new Map<string, string[]>()
  readonly #running = new Set<Served>()
  #count = 0

  private constructor(mock: Mock) {
    this.mock = mock
  }

  static async open(): Promise<Bench> {
    const bench = new Bench(await startMock({ random: { seed: 1, weights: { success: 1 } } }))
    mkdirSync(join(bench.root, 'work'))
    const server = await bench.serve()
    const client = await server.connect()
    const added = await client.command('workspace.add', { path: join(bench.root, 'work'), confirmed: true })
    bench.workspace = added.workspace.id
    await client.command('provider.save', {
      id: 'mock',
      label: 'Mock',
      wire: 'chat',
      baseURL: `${bench.mock.url}/v1`,
      key: 'none',
      options: { models: ['mock-model'] },
    })
    await client.command('model.default', { provider: 'mock', model: 'mock-model' })
    await client.close()
    await server.stop()
    return bench
  }

  async serve(): Promise<Served> {
    const server = await startServer({ dataDir: this.dataDir, preload: PRELOAD })
    this.#running.add(server)
    return server
  }

  async close(): Promise<void> {
    for (const server of this.#running) await server.kill()
    await this.mock.close()
    await rm(this.root, { recursive: true, force: true })
  }

  async create(client: Client): Promise<string> {
    // No pick of its own: its file is made by the first prompt.
    return (await client.command('session.create', { workspace: this.workspace, preset: 'minimal' })).session
  }

  /** Sends a prompt; remembered once it is acknowledged, whatever happens afterwards. */
  async prompt(client: Client, session: string, what = 'prompt'): Promise<string> {
    const text = `${what} ${++this.#count}`
    const { message } = await client.command('session.prompt', { session, text })
    this.acked.set(session, [...(this.acked.get(session) ?? []), text])
    return message
  }

  /** One turn to its end; rejects when it does not complete, or when the server goes away. */
  async complete(client: Client, session: string, what = 'after'): Promise<void> {
    await client.attach(session)
    const id = await this.prompt(client, session, what)
    const admitted = (event: LogEvent) => event.type === 'user/message' && event.data.message.id === id
    const parked = (event: LogEvent) =>
      event.type === 'agent/inbox/spliced' &&
      event.data.parked !== undefined &&
      event.data.inserted.some((message) => message.id === id)
    const find = () => client.events(session).find((event) => admitted(event) || parked(event))
    await client.until(() => find() !== undefined)
    const { type, data } = find()!
    if (type !== 'user/message') throw new Error(`the prompt was parked: ${JSON.stringify(data)}`)
    const end = await client.turnEnd(session, data.turn!)
    // What a tab has seen may not be on disk yet; the answer to this command comes behind everything that is.
    await client.command('session.rename', { session, title: what })
    if (end.data.reason.kind !== 'completed') throw new Error(`the prompt ended as ${JSON.stringify(end.data)}`)
  }

  /** Reads a log byte by byte: CRC of each line, contiguous seqs, pairs of calls and results, each acknowledged prompt once. */
  check(session: string): LogEvent[] {
    const { events, torn } = readLog(this.dataDir, session)
    if (torn) throw new Error(`the log of ${session} ends in the middle of a line`)
    const problems = problemsOf(events)
    const history = events.flatMap((event) =>
      event.type === 'user/message' && event.data.message.source.kind === 'user' ? [textOf(event.data.message)] : [],
    )
    const queued = queueOf(events)
    for (const text of this.acked.get(session) ?? []) {
      const seen = [...history, ...queued].filter((each) => each === text).length
      if (seen !== 1) problems.push(`"${text}" was acknowledged and stands ${seen} times in history and queue`)
    }
    const twice = history.filter((text, index) => history.indexOf(text) !== index)
    if (twice.length > 0) problems.push(`twice in the history: ${twice.join(', ')}`)
    if (problems.length > 0) throw new Error(`session ${session}: ${problems.join('; ')}`)
    return events
  }
}

/** The log as its bytes are; `torn` when it does not end with a whole line. Undefined when the session has no file. */
function logBytes(dataDir: string, session: string): Buffer | undefined {
  const sessions = join(dataDir, 'sessions')
  const month = readdirSync(sessions).find((name) => readdirSync(join(sessions, name)).includes(session))
  const file = month && join(sessions, month, session, 'log.jsonl')
  return file && existsSync(file) ? readFileSync(file) : undefined
}

function readLog(dataDir: string, session: string): { events: LogEvent[]; torn: boolean } {
  const bytes = logBytes(dataDir, session) ?? Buffer.alloc(0)
  const records: Record<string, unknown>[] = []
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    const record = decodeLine(bytes.subarray(start, end))
    if (!record) throw new Error(`line ${records.length + 1} of the log has a wrong CRC`)
    records.push(record)
    start = end + 1
  }
  return { events: records.slice(1) as unknown as LogEvent[], torn: start < bytes.length }
}

function openTurn(events: readonly LogEvent[]): number | undefined {
  const last = events.findLast((event) => event.type === 'turn/start' || event.type === 'turn/end')
  return last?.type === 'turn/start' ? last.data.turn : undefined
}

/** What no log may show: gaps, open turns in the middle, calls without an answer or answers without a call. */
function problemsOf(events: readonly LogEvent[]): string[] {
  const problems: string[] = []
  let open: number | undefined
  const calls = new Set<string>()
  events.forEach((event, index) => {
    if (event.seq !== index) problems.push(`seq ${event.seq} at place ${index}`)
    if (event.type === 'turn/start') {
      if (open !== undefined) problems.push(`turn ${event.data.turn} begins inside turn ${open}`)
      open = event.data.turn
    }
    if (event.type === 'turn/end') open = undefined
    if (event.type === 'assistant/message')
      for (const block of event.data.message.content) if (block.type === 'tool-call') calls.add(block.id)
    if (event.type === 'tool/result' && event.data.message.source.kind === 'tool') {
      if (!calls.delete(event.data.message.source.callId)) problems.push('a result without its call')
    }
  })
  if (open !== undefined) problems.push(`turn ${open} is still open`)
  if (calls.size > 0) problems.push(`${calls.size} calls without a result`)
  return problems
}

function queueOf(events: readonly LogEvent[]): string[] {
  let state = inbox.init({} as Parameters<typeof inbox.init>[0])
  for (const event of events) state = inbox.apply(state, event)
  return [...waiting(state, 'next-turn'), ...waiting(state, 'next-step')].map(({ message }) => textOf(message))
}

async function arm(server: Served, on: Arm['arm']['on'], at: number): Promise<void> {
  const answer = once(server.child, 'message')
  server.child.send({ arm: { at, on } } satisfies Arm)
  await answer
}

async function report(server: Served): Promise<{ passed: number; names: string[] }> {
  const answer = once(server.child, 'message')
  server.child.send('report')
  const [message] = (await answer) as [Exclude<Armed, 'armed'>]
  return message
}

export interface SweepResult {
  /** Points at which the process was killed, with what it was about to do. */
  kills: string[]
  /** Number of points of the run that survived; undefined when none did. */
  points: number | undefined
}

/**
 * Kills one run after another at the given points until a run survives. After each kill a new server on the same folder
 * must find every acknowledged prompt exactly once, close the open turn as interrupted, and complete the next prompt.
 */
export async function sweep(bench: Bench, { prompt, on }: Scenario, points: Iterable<number>): Promise<SweepResult> {
  const kills: string[] = []
  let server = await bench.serve()
  let client = await server.connect()
  let session = await bench.create(client)
  await bench.complete(client, session)
  for (const at of points) {
    const target = prompt === 'first' ? await bench.create(client) : session
    await client.attach(target)
    await arm(server, on, at)
    const died = once(server.child, 'exit').then(() => 'died' as const)
    const completed = bench.complete(client, target, 'prompt').then(() => 'completed' as const)
    // When the socket closes under the command, that is the kill; the prompt then counts as not acknowledged.
    const outcome = await Promise.race([died, completed.catch(() => died)])
    if (outcome === 'completed') {
      const { passed } = await report(server)
      await stop(client, server)
      bench.check(target)
      return { kills, points: passed }
    }
    kills.push(/killed at .*/.exec(server.output())?.[0] ?? `not killed by the sweep:\n${server.output()}`)
    server = await bench.serve()
    client = await server.connect()
    session = await recovered(bench, client, target, session)
  }
  await stop(client, server)
  return { kills, points: undefined }
}

async function stop(client: Client, server: Served): Promise<void> {
  await client.close()
  await server.stop()
}

/** After a kill: the session goes on, or was never acknowledged and is not there. Answers the session to continue with. */
async function recovered(bench: Bench, client: Client, target: string, last: string): Promise<string> {
  const turn = openTurn(readLog(bench.dataDir, target).events)
  const known = await client.attach(target).then(
    () => true,
    () => false,
  )
  if (!known && bench.acked.has(target)) throw new Error('an acknowledged session is gone')
  if (!known) return last
  await bench.complete(client, target)
  const events = bench.check(target)
  const end = events.find((event) => event.type === 'turn/end' && event.data.turn === turn)
  if (turn !== undefined && end?.type === 'turn/end' && end.data.reason.kind !== 'interrupted')
    throw new Error(`turn ${turn} was open when the process died and ended as ${JSON.stringify(end.data.reason)}`)
  return target
}
