import { posix } from 'node:path'
import { matches } from '../permission/rules.ts'
import type { Sessions } from '../session/sessions.ts'
import type { CommandResults, ParsedArgs } from '../wire/commands.ts'
import type { LogEvent } from '../wire/events.ts'
import type { Rehearsed } from '../wire/safety.ts'

/** Sessions whose calls are looked at, the latest first. */
const SESSIONS = 50

/** What a rule would have made of past calls: of one session, or of the latest ones. Reads logs, changes nothing. */
export async function rehearse(
  sessions: Sessions,
  { session, rule, limit }: ParsedArgs<'rule.rehearse'>,
): Promise<CommandResults['rule.rehearse']> {
  const ids = rule.scope === 'session' && session !== undefined ? [session] : await latest(sessions)
  const calls: Rehearsed[] = []
  for (const id of ids) {
    if (calls.length >= limit) break
    const view = await sessions.view(id).catch(() => undefined) // gone, or not readable: nothing to say of it
    if (!view) continue
    const { cwd = '/' } = view.header
    for (const event of view.events.toReversed()) {
      const call = event.type === 'tool/call' ? subjectOf(event, cwd) : undefined
      if (!call) continue
      const match = matches(rule, call)
      const base = {
        session: id,
        seq: event.seq,
        toolName: call.toolName,
        subject: call.command ?? call.paths[0] ?? '',
      }
      if (match.kind === 'yes') calls.push({ ...base, effect: rule.effect })
      else calls.push({ ...base, ...(match.kind === 'unclear' && { why: match.why }) })
      if (calls.length >= limit) break
    }
    view.release()
  }
  return { calls, matched: calls.filter(({ effect }) => effect !== undefined).length, looked: calls.length }
}

async function latest(sessions: Sessions): Promise<string[]> {
  const { rows } = await sessions.list({ limit: SESSIONS })
  return rows.map(({ id }) => id)
}

const PATHS = ['path', 'file_path'] as const

/** A call as rules see it, read off its logged arguments: paths as they were written, since files may have moved. */
function subjectOf({ data }: LogEvent<'tool/call'>, cwd: string) {
  let args: unknown
  try {
    args = JSON.parse(data.arguments)
  } catch {
    return undefined // the model wrote no JSON: nothing was run
  }
  if (typeof args !== 'object' || args === null) return undefined
  const fields = args as Record<string, unknown>
  const command = typeof fields['command'] === 'string' && !('path' in fields) ? fields['command'] : undefined
  const paths = PATHS.flatMap((key) => (typeof fields[key] === 'string' ? [posix.resolve(cwd, fields[key])] : []))
  return { toolName: data.name, paths, ...(command !== undefined && { command }) }
}
