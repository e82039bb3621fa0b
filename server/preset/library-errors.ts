import { CoreError } from '../wire/errors.ts'
import type { JsonObject } from '../wire/json.ts'
import type { Diagnostic } from '../wire/presets.ts'

export const changedMeanwhile = (preset: string, digest: string): CoreError =>
  new CoreError(
    'agent-preset/changed-meanwhile',
    `The document of ${preset} was changed by somebody else since you opened it. Load it again, or copy your text first.`,
    { agentPreset: preset, digest },
  )

export const notOwn = (preset: string): CoreError =>
  new CoreError(
    'agent-preset/not-own',
    `The preset ${preset} is part of this program and cannot be changed. Copy it first, then change the copy.`,
    { agentPreset: preset },
  )

export const notAnId = (id: string): CoreError =>
  new CoreError(
    'agent-preset/invalid',
    `${JSON.stringify(id)} cannot be the id of a document. Use up to 64 small letters, digits and hyphens.`,
    { agentPreset: id, reason: 'not a file name' },
  )

export const taken = (id: string): CoreError =>
  new CoreError('agent-preset/exists', `There is a preset ${id} already. Choose another id.`, { agentPreset: id })

export const notSaved = (error: unknown): CoreError =>
  new CoreError(
    'agent-preset/not-saved',
    `The document was not saved: ${(error as Error).message}. What was there before is untouched.`,
    {},
    { cause: error },
  )

/** Runs an edit of a text; what it throws is the text's fault. */
export function editing(preset: string, edit: () => string): string {
  try {
    return edit()
  } catch (error) {
    const reason = (error as Error).message
    throw new CoreError(
      'agent-preset/invalid',
      `The document of ${preset} cannot be edited: ${reason}. Mend its text first.`,
      {
        agentPreset: preset,
        reason,
      },
    )
  }
}

/** Answers the first fault in the message and all of them in `details.diagnostics`. */
export function refused(preset: string, what: 'saved' | 'imported', diagnostics: readonly Diagnostic[]): CoreError {
  const { line, message } = diagnostics.find(({ severity }) => severity === 'error')!
  const reason = `line ${line}: ${message}`
  return new CoreError('agent-preset/invalid', `The text was not ${what}, ${reason}`, {
    ...(preset && { agentPreset: preset }),
    reason,
    diagnostics: diagnostics as unknown as JsonObject[],
  })
}
