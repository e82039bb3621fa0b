import { run } from './actions.ts'
import { useSwitching, without } from './switching-state.ts'

/** Switches a blank session. Every label shows the new preset before the server has answered. */
export async function switchPreset(session: string, from: string, to: string): Promise<void> {
  if (from === to) return
  const before = useSwitching.getState().last[session]
  useSwitching.setState(({ asked, last }) => ({
    asked: { ...asked, [session]: to },
    last: { ...last, [session]: { from, to } },
  }))
  const retry = () => void switchPreset(session, from, to)
  const outcome = await run('preset.select', { session, preset: to }, { place: `session:${session}`, retry })
  if (outcome.ok) return
  useSwitching.setState(({ asked, last }) => {
    if (asked[session] !== to) return {}
    const rest = without(last, session)
    return { asked: without(asked, session), last: before ? { ...rest, [session]: before } : rest }
  })
}
