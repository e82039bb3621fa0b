import type { JsonObject } from './json.ts'

/** Every error code that may cross the wire. Codes are part of the contract: rename none. */
export const ERROR_CODES = [
  'agent-preset/not-found',
  'agent-preset/invalid',
  'agent-preset/locked',
  'agent-preset/conflict',
  'agent-preset/exists',
  'agent-preset/not-own',
  'agent-preset/changed-meanwhile',
  'agent-preset/not-saved',
  'session/not-found',
  'session/conflict',
  'session/agent-busy',
  'session/writer-held',
  'session/model-unavailable',
  'session/model-not-configured',
  'session/fork-unavailable',
  'session/queue-item-not-found',
  'session/steer-unavailable',
  'session/title-invalid',
  'session/corrupt',
  'session/read-only',
  'session/workspace-attach-failed',
  'workspace/not-found',
  'workspace/invalid',
  'permission/not-found',
  'permission/invalid',
  'permission/unusable',
  'approval/not-found',
  'approval/answered',
  'approval/wrong-digest',
  'shell/not-running',
  'provider/not-found',
  'provider/invalid',
  'credential/invalid',
  'settings/not-saved',
  'gateway/bad-request',
  'gateway/unauthorized',
  'gateway/forbidden',
  'gateway/not-found',
  'gateway/too-many-requests',
  'gateway/internal',
  'gateway/cancelled',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** What a rejected command looks like on the wire. `message` names the thing and the next step, in one or two sentences. */
export interface WireError {
  code: ErrorCode
  message: string
  details?: JsonObject
}

/** An expected refusal that keeps its code from the room where it arises to the screen. */
export class CoreError extends Error {
  readonly code: ErrorCode
  readonly details: JsonObject | undefined

  constructor(code: ErrorCode, message: string, details?: JsonObject, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CoreError'
    this.code = code
    this.details = details
  }
}

/** The wire form of any thrown value; what is not a CoreError becomes `gateway/internal` with its message only. */
export function toWireError(error: unknown): WireError {
  if (error instanceof CoreError)
    return { code: error.code, message: error.message, ...(error.details && { details: error.details }) }
  return { code: 'gateway/internal', message: error instanceof Error ? error.message : String(error) }
}
