import { CoreError } from '../wire/errors.ts'
import type { CommandResults } from '../wire/commands.ts'
import type { Selection } from '../wire/messages.ts'
import type { Routes } from '../model/routes.ts'
import type { SessionsOptions } from './options.ts'

const unavailable = (selection: Selection, message: string) =>
  new CoreError('session/model-unavailable', message, { provider: selection.provider, model: selection.model })

/**
 * Checks a pick before it is recorded (L-14): a known route, an id, and an effort that the card or, for an unlisted id, the
 * route offers. A catalog that cannot be read refuses nothing.
 */
export async function checkSelection(routes: Routes, selection: Selection): Promise<void> {
  const route = routes.get(selection.provider)
  if (!route)
    throw unavailable(
      selection,
      `There is no model provider "${selection.provider}". Choose another model, or add the provider in Settings > Models.`,
    )
  if (selection.model.trim() === '') throw unavailable(selection, 'The model id is empty. Choose a model.')
  if (selection.reasoningEffort === undefined) return
  const facts = await route.describe(selection.model).catch(() => undefined)
  if (!facts || facts.efforts.some(({ id }) => id === selection.reasoningEffort)) return
  const offered = facts.efforts.map(({ id }) => id).join(', ') || 'none'
  throw unavailable(
    selection,
    `${facts.name} does not offer the reasoning effort "${selection.reasoningEffort}" (offered: ${offered}).`,
  )
}

/** The pick stands whatever this comes to: a default that cannot be written is a warning and part of the answer (L-13). */
export async function saveAsDefault(
  { defaultModel, routes, warn = console.warn }: Pick<SessionsOptions, 'defaultModel' | 'routes' | 'warn'>,
  selection: Selection,
): Promise<CommandResults['model.select']> {
  if (!defaultModel || routes.get(selection.provider)?.neverDefault) return {}
  try {
    await defaultModel.saveSelection(selection)
    return { default: { saved: true } }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    warn(`the default model was not saved: ${reason}`)
    return { default: { saved: false, reason } }
  }
}

export const noModel = () =>
  new CoreError(
    'session/model-not-configured',
    'No model is chosen. Pick one in the model chip, or set a default in Settings > Models.',
  )
