import { navigate } from '../router.ts'
import { run } from './actions.ts'

/** Forks at the latest finished turn, or at an event, and goes there. */
export async function fork(session: string, seq?: number): Promise<void> {
  const retry = () => void fork(session, seq)
  const args = { session, ...(seq !== undefined && { seq }) }
  const outcome = await run('session.fork', args, { place: `session:${session}`, retry })
  if (outcome.ok) navigate({ place: 'session', id: outcome.result.session })
}
