import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { CoreError } from '../wire/errors.ts'
import { SESSION_ID } from '../wire/ids.ts'
import type { Header } from '../wire/events.ts'
import type { EventLog } from '../log/port.ts'
import { SessionLog } from '../log/session-log.ts'
import { newHeader } from '../log/store.ts'
import type { AgentOptions } from '../turn/hooks.ts'
import type { AgentHandle, AgentRegistry } from './registry.ts'

const sessionId = z.string().min(1).regex(SESSION_ID, 'a session id has 1 to 128 of A-Z a-z 0-9 _ -')
const given = z.string().min(1)

/** One entry of `agents[]`. Its `id` labels the entry; it is neither a preset's id nor, by itself, a session's (N-12). */
export const agentEntry = z.strictObject({
  id: given,
  sessionId: sessionId.optional(),
  /** Empty counts as absent, so that a variable without a value may stand here. */
  resumeSessionId: z.union([z.literal(''), sessionId]).optional(),
  provider: given.optional(),
  model: given.optional(),
  reasoningEffort: given.optional(),
  maxTokens: z.int().positive().optional(),
  cwd: z.string().refine(isAbsolute, 'expected an absolute path').optional(),
})
export type AgentEntry = z.output<typeof agentEntry>

/** Sessions that a launcher assigns to entries, by their label; `resume` demands that the session exists. */
export const configuredIdentities = z.record(z.string(), z.strictObject({ id: sessionId, resume: z.boolean() }))
export type ConfiguredIdentities = z.output<typeof configuredIdentities>

/** Which session a start continues or makes: a new one each time, exactly this one, or exactly this one from its history. */
export type StartIdentity = { kind: 'fresh' } | { kind: 'exact'; id: string } | { kind: 'resume'; id: string }

export interface Start {
  label: string
  identity: StartIdentity
  /** `cwd` is absent where the entry names none; then the session's own holds. */
  options: Omit<AgentOptions, 'cwd'> & { cwd?: string }
}

/** A fault of the config as validation reports it: what is wrong, and at which row and key. */
export interface StartProblem {
  message: string
  at: string
}

/** All starts of a config, or everything that is wrong with it; a launcher's identity replaces both keys of its entry (N-09). */
export function planStarts(
  entries: readonly AgentEntry[],
  identities: ConfiguredIdentities = {},
): { starts: Start[]; problems: StartProblem[] } {
  const starts: Start[] = []
  const problems: StartProblem[] = []
  const taken = new Map<string, string>()
  for (const [index, entry] of entries.entries()) {
    const { id: label, sessionId: exact, resumeSessionId: resumed, ...options } = entry
    const assigned = Object.hasOwn(identities, label) ? identities[label] : undefined
    const key = !assigned && resumed ? 'resumeSessionId' : 'sessionId'
    const at = assigned ? `configuredAgentIdentities.${label}` : `agents.${index}.${key}`
    if (!assigned && exact !== undefined && resumed)
      problems.push({ message: `entry ${label} has both sessionId and resumeSessionId`, at: `agents.${index}` })
    const identity = assigned
      ? ({ kind: assigned.resume ? 'resume' : 'exact', id: assigned.id } as const)
      : identityOf(exact, resumed)
    if (identity.kind !== 'fresh') {
      const other = taken.get(identity.id)
      if (other !== undefined) problems.push({ message: `session ${identity.id} is already taken by ${other}`, at })
      taken.set(identity.id, `entry ${label}`)
    }
    starts.push({ label, identity, options: withoutAbsent(options) })
  }
  return { starts, problems }
}

function identityOf(exact: string | undefined, resumed: string | undefined): StartIdentity {
  if (resumed) return { kind: 'resume', id: resumed }
  return exact === undefined ? { kind: 'fresh' } : { kind: 'exact', id: exact }
}

const withoutAbsent = (options: object): Start['options'] =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** The session of a start; a fresh one gets a new id at every call. */
export const sessionOf = ({ label, identity }: Start, uuid: () => string): string =>
  identity.kind === 'fresh' ? `${label}-session-${uuid()}` : identity.id

/** What a start needs of the session store. */
export interface StartStore {
  create(header: Header): EventLog
  openWrite(id: string): Promise<{ log: EventLog }>
}

export interface StartWorld {
  agents: AgentRegistry
  /** Absent on a host without persistence: sessions then live in memory. */
  store?: StartStore
  /** Name and version of this program, for headers. */
  writer: string
  now?: () => number
}

/**
 * Resumes or creates the session of a start and its agent: no preset, no model but the entry's own. Rejects
 * with the store's error; `session/not-found` only for a start that demands history.
 */
export async function startAgent(start: Start, id: string, world: StartWorld): Promise<AgentHandle> {
  const { agents } = world
  // Its log is open until it has drained, and the store would refuse a second one.
  await agents.drained(id)
  const log = await logOf(start, id, world)
  const cwd = start.options.cwd ?? log.header.cwd ?? process.cwd()
  try {
    return await agents.create({ id, log, options: { ...start.options, cwd } })
  } catch (error) {
    await log.close().catch(() => {
      // The refusal of the agent is the one to report.
    })
    throw error
  }
}

async function logOf({ identity, options }: Start, id: string, world: StartWorld): Promise<EventLog> {
  const { store, writer, now = Date.now } = world
  const header = (): Header => newHeader({ id, createdAt: now(), cwd: options.cwd ?? process.cwd(), writer })
  if (identity.kind === 'resume' && !store)
    throw new CoreError('session/not-found', `There is no persistence to resume session ${id} from.`, { sessionId: id })
  if (!store) return SessionLog.memory(header())
  if (identity.kind === 'fresh') return store.create(header())
  try {
    return (await store.openWrite(id)).log
  } catch (error) {
    const absent = error instanceof CoreError && error.code === 'session/not-found'
    if (!absent || identity.kind === 'resume') throw error
    return store.create(header())
  }
}
