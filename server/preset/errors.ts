import { CoreError } from '../wire/errors.ts'

export const notFound = (id: string, available: readonly string[]): CoreError =>
  new CoreError(
    'agent-preset/not-found',
    `There is no preset ${JSON.stringify(id)}. Available: ${available.join(', ') || 'none'}.`,
    { agentPreset: id, available: [...available] },
  )

export const invalid = (id: string, reason: string): CoreError =>
  new CoreError('agent-preset/invalid', `The preset ${JSON.stringify(id)} cannot be used: ${reason}`, {
    agentPreset: id,
    reason,
  })

export const locked = (sessionId: string, id: string): CoreError =>
  new CoreError(
    'agent-preset/locked',
    'This session has already had a turn, so its preset stays. Start or fork a session to use another one.',
    { sessionId, agentPreset: id },
  )

/** A row asked, inside its own activation, for a diagnosis that waits for all host rows: the two would wait for each other (E-13). */
export class ActivationCycleError extends Error {
  readonly code = 'agent-preset/awaited-in-activation'
  readonly row: string
  readonly preset: string

  constructor(row: string, preset: string) {
    super(
      `row ${row} awaits the preset ${preset} inside its own activation, and the preset waits for the host's rows; ask after activation`,
    )
    this.name = 'ActivationCycleError'
    this.row = row
    this.preset = preset
  }
}
