import { join } from 'node:path'
import { newHeader, SessionStore } from '../../server/log/store.ts'
import type { SessionLog } from '../../server/log/session-log.ts'
import { draft } from '../../server/wire/events.ts'
import { newId } from '../../server/wire/ids.ts'
import type { Message, Usage } from '../../server/wire/messages.ts'
import type { Price } from '../../server/wire/models.ts'
import type { Client } from '../client.ts'
import type { Mock } from '../mock-llm/server.ts'

/** Days of work, the present one last, written through the real store with a clock that is set. */
const DAYS = 60
const HOUR = 3_600_000

interface Route {
  provider: string
  model: string
  price?: Price
  /** Typical ms to the first token, and the share of the input that comes from the cache. */
  firstMs: number
  cached: number
}

const FLASH: Route = {
  provider: 'lab',
  model: 'deepseek-v4-flash',
  price: { in: 0.27, cacheRead: 0.07, out: 1.1 },
  firstMs: 780,
  cached: 0.86,
}
const PRO: Route = {
  provider: 'lab',
  model: 'deepseek-v4-pro',
  price: { in: 0.55, cacheRead: 0.14, out: 2.19 },
  firstMs: 1700,
  cached: 0.82,
}
const SONNET: Route = {
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  price: { in: 3, cacheRead: 0.3, cacheWrite: 3.75, out: 15 },
  firstMs: 1500,
  cached: 0.76,
}
const LOCAL: Route = { provider: 'ollama', model: 'qwen3-coder:30b', firstMs: 420, cached: 0 }

interface Part {
  title: string
  folder: string
  preset: string
  route: Route
  /** First and last day, counted back from the present one, and requests on a working day. */
  days: [number, number]
  load: number
}

const PARTS: readonly Part[] = [
  { title: 'Port the parser', folder: 'tally', preset: 'standard', route: FLASH, days: [59, 31], load: 34 },
  {
    title: 'Replay 40 recorded traces',
    folder: 'eval-harness',
    preset: 'standard',
    route: FLASH,
    days: [29, 0],
    load: 26,
  },
  {
    title: 'Compare minimal G2 and G3',
    folder: 'eval-harness',
    preset: 'minimal',
    route: FLASH,
    days: [24, 2],
    load: 22,
  },
  {
    title: 'Rewrite the rounding guide',
    folder: 'tally-docs',
    preset: 'standard',
    route: SONNET,
    days: [21, 6],
    load: 5,
  },
  { title: 'Fix the split remainder', folder: 'tally', preset: 'standard', route: PRO, days: [12, 0], load: 9 },
  { title: 'Drop Python 3.9', folder: 'tally', preset: 'minimal', route: FLASH, days: [9, 0], load: 12 },
  {
    title: 'Seed the flaky-test set',
    folder: 'eval-harness',
    preset: 'minimal',
    route: LOCAL,
    days: [18, 3],
    load: 16,
  },
  {
    title: 'Check that the code samples run',
    folder: 'tally-docs',
    preset: 'minimal',
    route: FLASH,
    days: [7, 5],
    load: 8,
  },
]

/** The same numbers on every run. */
function dice(seed: number): () => number {
  let state = seed
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
}

/** On this day the provider was overloaded. */
const BAD_DAY = 19

/** Writes the sessions into a data folder that no host has open; `code` holds their working folders. */
export async function writeMonth(dataDir: string, code: string): Promise<void> {
  const clock = { at: 0 }
  const store = new SessionStore(dataDir, { allowNetworkDisk: true, now: () => clock.at })
  await store.prepare()
  const roll = dice(11)
  for (const part of PARTS) {
    clock.at = dayOf(part.days[0]).from
    const { folder, preset } = part
    const fields = {
      id: newId(),
      createdAt: clock.at,
      writer: 'core-web',
      cwd: join(code, folder),
      agentPreset: preset,
    }
    const log = store.create(newHeader(fields))
    log.append(draft('session/title', { title: part.title, source: 'user' }))
    writePart(log, part, clock, roll)
    await log.barrier()
    await log.close()
  }
  await store.close()
}

function writePart(log: SessionLog, part: Part, clock: { at: number }, roll: () => number): void {
  let turn = 0
  for (let back = Math.min(part.days[0], DAYS - 1); back >= part.days[1]; back--) {
    const { from, to, weekend } = dayOf(back)
    const count = Math.round(part.load * (weekend ? 0.12 : 0.45 + roll()))
    for (let done = 0; done < count;) {
      const steps = Math.min(count - done, 1 + Math.floor(roll() * 6))
      clock.at = Math.round(from + ((to - from) * done) / count)
      log.append(draft('turn/start', { turn: ++turn }))
      for (let step = 1; step <= steps; step++) request(log, { turn, step, back, roll, route: part.route })
      log.append(draft('turn/end', { turn, reason: { kind: 'completed' } }))
      done += steps
    }
  }
}

interface Request {
  turn: number
  step: number
  back: number
  roll(): number
  route: Route
}

function request(log: SessionLog, { turn, step, back, roll, route }: Request): void {
  const { provider, model, price } = route
  const at = { turn, step }
  log.append(draft('step/start', at))
  if (roll() < (back === BAD_DAY ? 0.3 : 0.012)) {
    const error = { code: 'MODEL_SERVER', message: 'The provider is overloaded.', status: 529 }
    log.append(draft('assistant/attempt', { ...at, attempt: 1, stream: [], error, provider, model, ms: 400 }))
  }
  const message: Message = {
    id: newId(),
    role: 'assistant',
    content: [{ type: 'text', text: 'Done.' }],
    source: { kind: 'model', provider, model },
  }
  const firstDeltaMs = Math.round(route.firstMs * (0.8 + roll() * 0.5) * (back === BAD_DAY ? 3 : 1))
  const answered = { message, stream: [], usage: usageOf(route, back, roll), firstDeltaMs, ms: firstDeltaMs + 4000 }
  log.append(draft('assistant/message', { ...at, ...answered, ...(price && { price }) }), draft('step/end', at))
}

/** The cache works better from week to week. */
function usageOf({ cached }: Route, back: number, roll: () => number): Usage {
  const input = Math.round(9000 + roll() * 22_000)
  const share = cached * (1 - back / 160) * (0.9 + roll() * 0.12)
  const cacheReadTokens = Math.round(input * Math.min(0.97, share))
  const outputTokens = Math.round(250 + roll() * 1100)
  const reasoningTokens = Math.round(outputTokens * (0.25 + roll() * 0.25))
  return { inputTokens: input - cacheReadTokens, cacheReadTokens, outputTokens, reasoningTokens }
}

/** From nine o'clock for nine hours; of the present day what is over. */
function dayOf(back: number): { from: number; to: number; weekend: boolean } {
  const now = new Date()
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() - back)
  const nine = midnight.getTime() + 9 * HOUR
  const late = Math.min(nine + 9 * HOUR, now.getTime() - HOUR / 60)
  const from = Math.min(nine, Math.round((midnight.getTime() + late) / 2))
  return { from, to: late, weekend: [0, 6].includes(midnight.getDay()) }
}

/** Sessions that a provider or a limit holds up. */
export interface HeldUp {
  retrying: string
  stopped: string
}

/** The host around it: its folders, the provider of most requests, a limit of the day, and two sessions that wait. */
export async function furnishMonth(client: Client, code: string, mock: Mock): Promise<HeldUp> {
  const workspaces = []
  for (const folder of ['tally-docs', 'eval-harness', 'tally'])
    workspaces.push((await client.command('workspace.add', { path: join(code, folder), confirmed: true })).workspace.id)
  // A wait that outlasts the pictures.
  const options = { retry: { mode: 'normal' as const, retries: 8, baseMs: 240_000, capMs: 600_000 } }
  const lab = {
    id: 'lab',
    label: 'Lab gateway',
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    key: 'none',
    options,
  } as const
  await client.command('provider.save', lab)
  await client.command('model.facts', { provider: 'lab', model: FLASH.model, facts: { price: FLASH.price ?? null } })
  await client.command('model.default', { provider: 'lab', model: FLASH.model })
  await client.command('budget.save', { day: 1.5 })
  const workspace = workspaces.at(-1)!
  mock.script('*', [
    { text: 'I look at the suite first.', toolCalls: [look], usage: { input: 52_000, output: 900 } },
    { behavior: 'overloaded' },
  ])
  const { session: stopped } = await client.command('session.create', { workspace, preset: 'standard' })
  await client.attach(stopped)
  await client.command('session.budget', { session: stopped, limit: 0.01 })
  await client.command('session.prompt', { session: stopped, text: 'Find the slowest test and say why' })
  await client.turnEnd(stopped, 1)
  const asked = { workspace, preset: 'standard', prompt: 'Which callers still import tally.legacy?' }
  const { session: retrying } = await client.command('session.create', asked)
  await client.attach(retrying)
  await client.event(retrying, 'assistant/attempt', () => true)
  return { retrying, stopped }
}

const look = { name: 'bash', arguments: JSON.stringify({ command: 'ls', description: 'Look around' }) }
