import { REQUIRED, boot, type BootOptions, type Host } from '../boot.ts'
import { reportText } from '../boot-report.ts'
import type { Patch } from '../preset/patch.ts'
import type { Sessions } from '../session/sessions.ts'
import type { LogEvent, TurnEndReason } from '../wire/events.ts'
import { textOf, type Selection } from '../wire/messages.ts'

/** The host without its page: same rows, same presets, no port. */
const WITHOUT_PAGE: Patch = { id: 'web-server', disabled: true }

export interface HeadlessOptions {
  host: BootOptions
  /** Absolute path of the folder that the agent works in. */
  workspace: string
  /** Absent: the default preset. */
  preset?: string
  /** Absent: the default model. */
  selection?: Selection
  /** Sent one after another, each when the one before has ended. */
  prompts: readonly string[]
  /** Every event of the session, in order, as it is committed. */
  onEvents?: (events: readonly LogEvent[]) => void
  /** The host before it closes: whatever else the caller wants to know of it. */
  inspect?: (host: Host, session: string) => void | Promise<void>
  /** Stops the running turn, which then ends as aborted. */
  signal?: AbortSignal
}

export interface HeadlessResult {
  session: string
  /** Text of the last answer. */
  text: string
  /** One per turn, in order. */
  ends: TurnEndReason[]
  events: readonly LogEvent[]
}

/** A host that could not start what a session needs; the message is the whole report. */
export class NotStarted extends Error {}

/**
 * Runs one session to idle on a host without a page. Throws `NotStarted`, and the session's own refusals (CoreError) for an
 * unknown preset, a missing model and the like; failures inside a turn are in `ends`.
 */
export async function runHeadless(options: HeadlessOptions): Promise<HeadlessResult> {
  const { host: bootOptions, prompts, onEvents, inspect, signal } = options
  const required = REQUIRED.filter((row) => row !== 'web-server')
  const patches = [...(bootOptions.patches ?? []), WITHOUT_PAGE]
  const host = await boot({ ...bootOptions, patches, required })
  try {
    if (host.report.fatal.length > 0) throw new NotStarted(reportText(host.report))
    const sessions = host.service('sessions') as Sessions
    const session = await create(host, sessions, options)
    const { agent, log } = sessions.live(session)!
    onEvents?.(log.events)
    if (onEvents) log.observe(onEvents)
    const stop = () => void agent.cancel({ kind: 'user' })
    signal?.addEventListener('abort', stop, { once: true })
    for (const prompt of prompts) {
      if (signal?.aborted) break
      await sessions.prompt(session, prompt, 'queue')
      await agent.whenIdle()
    }
    signal?.removeEventListener('abort', stop)
    if (!signal?.aborted) await titled(sessions, session, signal)
    await inspect?.(host, session)
    return { session, ...outcome(log.events), events: log.events }
  } finally {
    await host.close()
  }
}

/** A title that is being written is part of the run; whoever stops the run does not wait for it. */
async function titled(sessions: Sessions, id: string, signal: AbortSignal | undefined): Promise<void> {
  const written = sessions.live(id)?.whenTitled()
  if (!written) return
  const stopped = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
  await Promise.race([written, stopped])
}

async function create(
  host: Host,
  sessions: Sessions,
  { workspace, preset, selection }: HeadlessOptions,
): Promise<string> {
  // The command line names the folder: that is the consent which the page asks for.
  const { id } = await host.service('workspaces')!.add(workspace, true)
  const created = await sessions.create({
    workspace: id,
    ...(preset !== undefined && { preset }),
    ...(selection && { selection: { ...selection, alsoDefault: false } }),
  })
  return created.session
}

function outcome(events: readonly LogEvent[]): { text: string; ends: TurnEndReason[] } {
  const answer = events.findLast((event) => event.type === 'assistant/message')
  return {
    text: answer?.type === 'assistant/message' ? textOf(answer.data.message) : '',
    ends: events.flatMap((event) => (event.type === 'turn/end' ? [event.data.reason] : [])),
  }
}
