import { never } from '../../../server/wire/never.ts'
import type { LogEvent } from '../../../server/wire/events.ts'
import type { ServerFrame } from '../../../server/wire/protocol.ts'
import { live, schedule } from './live.ts'
import { noteServerTime } from './server-time.ts'
import { settleSwitch } from './switching-state.ts'
import { fromSnapshot, withEvents, withWriter } from './session-view.ts'
import type { SessionView } from './session-view.ts'
import { get, set } from './store.ts'

/** Called when a session's events do not join up and it has to be asked for anew. */
let onGap: (session: string) => void = () => {}
let onHello: () => void = () => {}

export function bindFrames(hooks: { onGap(session: string): void; onHello(): void }): void {
  onGap = hooks.onGap
  onHello = hooks.onHello
}

let queue: ServerFrame[] = []

/** Frames are taken in once per animation frame, in order, so that a burst costs one render and not one per frame. */
export function receive(frame: ServerFrame): void {
  queue.push(frame)
  if (queue.length === 1) schedule(flush)
}

export function flush(): void {
  const frames = queue
  queue = []
  const sessions = { ...get().sessions }
  let touched = false
  for (const frame of frames) touched = takeIn(frame, sessions) || touched
  if (touched) set({ sessions })
  for (const frame of frames) settleSwitch(frame)
}

/** True when `sessions` changed. */
function takeIn(frame: ServerFrame, sessions: Record<string, SessionView>): boolean {
  switch (frame.t) {
    case 'hello': {
      const { host, workspaces, presets, models, sessionSettings, safety } = frame
      set({ global: { host, workspaces, presets, models, sessionSettings, safety }, auth: 'in' })
      onHello()
      return false
    }
    case 'global': {
      const { t: _, ...changes } = frame
      const { global } = get()
      if (global) set({ global: { ...global, ...changes } })
      return false
    }
    case 'sessions': {
      const rows = { ...get().rows }
      for (const row of frame.rows) rows[row.id] = row
      for (const id of frame.removed) delete rows[id]
      set({ rows })
      return false
    }
    case 'delta':
      live.delta(frame)
      return false
    case 'tool-output':
      live.output(frame)
      return false
    case 'snapshot':
      live.clear(frame.session)
      noteServerTime(frame.state.updatedAt)
      sessions[frame.session] = fromSnapshot(frame)
      return true
    case 'attached':
      return followed(frame.session, sessions, frame.events, frame)
    case 'events':
      return followed(frame.session, sessions, frame.events)
    case 'writer': {
      const view = sessions[frame.session]
      if (view?.kind === 'open') sessions[frame.session] = withWriter(view, frame)
      return true
    }
    case 'attach-failed':
      sessions[frame.session] = { kind: 'failed', error: frame.error }
      return true
    case 'ping':
    case 'ack':
    case 'error':
      // Answered by the connection before they get here.
      return false
    case 'shell':
      // Only a tab that watches a shell gets these, and this page has no place that does.
      return false
    default:
      return never(frame)
  }
}

function followed(
  id: string,
  sessions: Record<string, SessionView>,
  events: readonly LogEvent[],
  attached?: Extract<ServerFrame, { t: 'attached' }>,
): boolean {
  const view = sessions[id]
  if (view?.kind !== 'open') return false
  const next = withEvents(view, events)
  if (next === 'gap') {
    onGap(id)
    return false
  }
  for (const event of events) settleLive(id, event)
  noteServerTime(events.at(-1)?.time ?? NaN)
  // What an answer had streamed died with its server: the log will never have it.
  if (attached?.writer.kind === 'none') live.clear(id)
  sessions[id] = attached ? withWriter(next, attached) : next
  return true
}

/** What the log holds now is no longer live; both change in the same frame, so nothing shows twice (B85). */
function settleLive(id: string, event: LogEvent): void {
  if (event.type === 'assistant/message' || event.type === 'assistant/attempt')
    live.endStep(id, event.data.turn, event.data.step)
  if (event.type === 'turn/end') live.clear(id)
  if (event.type !== 'tool/result') return
  for (const block of event.data.message.content) if (block.type === 'tool-result') live.endCall(id, block.toolCallId)
}
