import { afterAll, beforeAll } from 'vitest'
import type { TurnEndReason } from '../../server/wire/events.ts'
import type { WireFamily } from '../../server/wire/messages.ts'
import type { KeySource, RouteOptions } from '../../server/wire/models.ts'
import type { Client } from '../client.ts'
import { startHost, type TestHost } from '../host.ts'
import type { Reply } from '../mock-llm/reply.ts'
import { startMock, type Mock, type MockRequest } from '../mock-llm/server.ts'

/** One retry, at once: what the policy decides is seen, what it waits is not. */
export const ONE_RETRY: RouteOptions['retry'] = { mode: 'normal', retries: 1, baseMs: 1, capMs: 10 }

export interface RouteSetup {
  wire?: WireFamily
  baseURL?: string
  key?: KeySource
  options?: RouteOptions
}

export interface Run {
  session: string
  reason: TurnEndReason
  /** What the provider was asked in this session's first turn. */
  requests: MockRequest[]
}

/** A real host with one provider for each case, against a mock that plays the provider; the lane is the session. */
export class Rig {
  mock!: Mock
  host!: TestHost
  client!: Client
  workspace!: string
  #routes = new Map<string, string>()

  async start(): Promise<void> {
    this.mock = await startMock()
    this.host = await startHost()
    this.client = await this.host.connect()
    this.workspace = await this.host.workspace(this.client)
  }

  async close(): Promise<void> {
    await this.host?.remove()
    await this.mock?.close()
  }

  /** The id of a provider that is set up so; made once. */
  async route({
    wire = 'chat',
    baseURL = `${this.mock.url}/v1`,
    key = 'stored',
    options = {},
  }: RouteSetup): Promise<string> {
    const name = JSON.stringify([wire, baseURL, key, options])
    const known = this.#routes.get(name)
    if (known) return known
    const id = `fault-${this.#routes.size}`
    this.#routes.set(name, id)
    await this.client.command('provider.save', {
      id,
      label: 'Faulty',
      wire,
      baseURL,
      key,
      options: {
        models: ['mock-model'],
        headers: { 'x-lane': '{{session}}' },
        retry: ONE_RETRY,
        proxy: 'none',
        ...options,
      },
    })
    if (key === 'stored') await this.client.command('credential.set', { provider: id, key: 'test-key' })
    return id
  }

  /** A session on a route, attached, nothing said in it yet. */
  async session(setup: RouteSetup): Promise<string> {
    const provider = await this.route(setup)
    const { session } = await this.client.command('session.create', {
      workspace: this.workspace,
      preset: 'minimal',
      selection: { provider, model: 'mock-model' },
    })
    await this.client.attach(session)
    return session
  }

  /** The first turn of a new session against the given answers. */
  async run(setup: RouteSetup, replies: readonly Reply[]): Promise<Run> {
    const session = await this.session(setup)
    this.mock.script(session, replies)
    await this.client.command('session.prompt', { session, text: 'Go.' })
    const { data } = await this.client.turnEnd(session, 1)
    return { session, reason: data.reason, requests: this.requests(session) }
  }

  requests(session: string): MockRequest[] {
    return this.mock.requests.filter(({ lane }) => lane === session)
  }

  /**
   * What a session is like after a fault, and what the next prompt makes of it: no turn is open, nothing waits, and one
   * request answers (B61). Compared with `WORKS`.
   */
  async next(session: string, turn = 2): Promise<unknown> {
    const before = this.requests(session).length
    const answer = await this.client.attach(session)
    if (answer.t !== 'snapshot') throw new Error('a first look at a session is a snapshot')
    const { openTurn, retry, inbox } = answer.state
    this.mock.script(session, [{ text: 'All is well.' }])
    await this.client.command('session.prompt', { session, text: 'Again.' })
    const { data } = await this.client.turnEnd(session, turn)
    const asked = this.requests(session).length - before
    return { openTurn, retry, waiting: [...inbox['next-turn'], ...inbox['next-step']], reason: data.reason, asked }
  }
}

export const WORKS = { openTurn: null, retry: null, waiting: [], reason: { kind: 'completed' }, asked: 1 }

/** Starts and ends a rig around the tests of a file. */
export function rigged(): Rig {
  const rig = new Rig()
  beforeAll(() => rig.start(), 60_000)
  afterAll(() => rig.close())
  return rig
}

/** A sentence for a person: one line, no markup, no key, a limit. */
export const isSentence = (message: string): boolean =>
  /^\S[^\n\r]{2,299}$/.test(message) && !/<html|<!doctype|test-key|\bat .+:\d+:\d+/i.test(message)

export const codeOf = (reason: TurnEndReason): string => (reason.kind === 'error' ? reason.error.code : reason.kind)

export const messageOf = (reason: TurnEndReason): string => (reason.kind === 'error' ? reason.error.message : '')
