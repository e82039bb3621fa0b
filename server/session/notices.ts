import { draft, type Draft } from '../wire/events.ts'
import type { GenerationRef } from '../wire/presets.ts'
import type { SessionLog } from '../log/session-log.ts'
import { agentPreset } from '../projection/agent-preset.ts'
import { request } from '../projection/request.ts'

type Notice = Draft<'agent-preset/notice'>

/**
 * What a person should know of the preset when a session goes on under `now`: that its declaration is another one than at
 * the last request, or that its id has a new name. Each is said once.
 */
export function noticesFor(log: SessionLog, now: GenerationRef | undefined): Notice[] {
  if (!now) return []
  return [renamed(log, now), changed(log, now)].filter((notice) => notice !== undefined)
}

function renamed(log: SessionLog, now: GenerationRef): Notice | undefined {
  const old = log.state(agentPreset).current
  if (old === null || old === now.preset || said(log, 'renamed', now)) return undefined
  const message = `The preset ${old} is called ${now.preset} now; the session goes on in ${now.preset}.`
  return draft('agent-preset/notice', { kind: 'renamed', agentPreset: now.preset, message, to: now })
}

function changed(log: SessionLog, now: GenerationRef): Notice | undefined {
  const before = log.state(request).composition
  if (before?.preset !== now.preset || before.digest === now.digest || said(log, 'changed', now)) return undefined
  const message =
    `The preset ${now.preset} has changed since the last request of this session: ` +
    `it was generation ${before.generation} and is generation ${now.generation} now.`
  return draft('agent-preset/notice', { kind: 'changed', agentPreset: now.preset, message, from: before, to: now })
}

/** Whether the last notice of this kind already leads to where the session is now. */
function said(log: SessionLog, kind: Notice['data']['kind'], now: GenerationRef): boolean {
  const last = log.events.findLast((event) => event.type === 'agent-preset/notice' && event.data.kind === kind)
  return last?.type === 'agent-preset/notice' && last.data.to?.digest === now.digest
}
