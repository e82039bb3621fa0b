import { create } from 'zustand'
import type { ServerFrame } from '../../../server/wire/protocol.ts'

interface Switching {
  /** Presets asked for and not yet seen in the log, by session: shown at once, taken back on a refusal. */
  asked: Readonly<Record<string, string>>
  /** The last switch of each session while this page lives, for "what changed" and undo. */
  last: Readonly<Record<string, { from: string; to: string }>>
}

export const useSwitching = create<Switching>()(() => ({ asked: {}, last: {} }))

export const without = <V>(record: Readonly<Record<string, V>>, key: string): Record<string, V> => {
  const { [key]: _, ...rest } = record
  return rest
}

export const forgetSwitch = (session: string): void =>
  useSwitching.setState(({ last }) => ({ last: without(last, session) }))

/** Once the log says what was asked for, or a snapshot says all, the log is what is shown. */
export function settleSwitch(frame: ServerFrame): void {
  if (frame.t !== 'snapshot' && frame.t !== 'events' && frame.t !== 'attached') return
  const { asked } = useSwitching.getState()
  const wanted = asked[frame.session]
  if (wanted === undefined) return
  const said = frame.events.some((event) => event.type === 'agent-preset/selected' && event.data.agentPreset === wanted)
  if (said || frame.t === 'snapshot') useSwitching.setState({ asked: without(asked, frame.session) })
}
