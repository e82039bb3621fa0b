import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { CORE_ROWS, testHost } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import { dumpRows } from '../preset/document.ts'
import { plugin } from '../preset/kernel.ts'
import { SessionStore, newHeader } from '../log/store.ts'
import { draft } from '../wire/events.ts'
import type { TestHost } from '../boot-testing.ts'
import type { BootOptions } from '../boot.ts'
import type { CoreError } from '../wire/errors.ts'

export const STORE = '\n- {id: data-folder, name: data-folder}\n- {id: session-store, name: session-store}\n'
export const LLM = '\n- {id: llm, name: llm}\n'

export const loopRow = (agents: object[], more: object = {}): string =>
  dumpRows([{ id: 'agent-loop', name: 'agent-loop', config: { agents, ...more } }])

export interface Failure {
  sessionId: string
  error: unknown
}

/** Hears of failed starts from the first row on. */
function listener(): { failures: Failure[]; catalog: NonNullable<BootOptions['catalog']>; row: string } {
  const failures: Failure[] = []
  const heard = plugin({
    name: 'failure-listener',
    apply(ctx) {
      ctx.on('agent-loop/config-start-failed', () => {
        throw new Error('an observer')
      })
      ctx.on('agent-loop/config-start-failed', (event) => void failures.push(event))
    },
  })
  return {
    failures,
    catalog: { 'failure-listener': { plane: 'host', load: () => Promise.resolve(heard) } },
    row: '- {id: failure-listener, name: failure-listener}\n',
  }
}

export interface LoopHost extends TestHost {
  failures: Failure[]
  log: string[]
}

/** A host whose loop stands before its store, as in the shipped host file. */
export async function loopHost(
  agents: object[],
  { store = STORE, more = '', ...options }: Partial<BootOptions> & { store?: string; more?: string } = {},
): Promise<LoopHost> {
  const { failures, catalog, row } = listener()
  const log: string[] = []
  const made = await testHost(
    { [HOST_FILE]: row + CORE_ROWS + LLM + loopRow(agents) + store + more },
    { log: (line) => log.push(line), ...options, catalog: { ...catalog, ...options.catalog } },
  )
  return { ...made, failures, log }
}

export const agentsOf = ({ host }: TestHost) => host.service('agents')!
export const idsOf = (made: TestHost) =>
  agentsOf(made)
    .list()
    .map(({ id }) => id)
export const causeOf = ({ host }: TestHost): string =>
  host.report.rows.find(({ row }) => row === 'agent-loop')?.cause ?? 'started'
export const codeOf = ({ error }: Failure) => (error as CoreError).code

/** A data folder in which the session has one title; returns the folder. */
export async function stored(id: string, title = 'kept'): Promise<string> {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'core-web-loop-')))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const store = new SessionStore(dataDir, { allowNetworkDisk: true })
  await store.prepare()
  const log = store.create(newHeader({ id, createdAt: 1, cwd: dataDir, writer: 'test' }))
  log.append(draft('session/title', { title, source: 'user' }))
  await log.close()
  await store.close()
  return dataDir
}

export const titles = (made: TestHost, id: string) =>
  agentsOf(made)
    .get(id)!
    .log.events.flatMap((event) => (event.type === 'session/title' ? [event.data.title] : []))
