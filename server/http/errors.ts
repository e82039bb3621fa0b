import type { FastifyInstance } from 'fastify'
import { CoreError, toWireError, type ErrorCode, type WireError } from '../wire/errors.ts'

const STATUS: Partial<Record<ErrorCode, number>> = {
  'agent-preset/not-found': 404,
  'agent-preset/conflict': 409,
  'agent-preset/locked': 409,
  'session/not-found': 404,
  'session/conflict': 409,
  'session/agent-busy': 409,
  'session/writer-held': 409,
  'workspace/not-found': 404,
  'provider/not-found': 404,
  'gateway/unauthorized': 401,
  'gateway/forbidden': 403,
  'gateway/not-found': 404,
  'gateway/too-many-requests': 429,
  'gateway/internal': 500,
}

export const statusOf = (code: ErrorCode): number => STATUS[code] ?? 400

/** One error table for every route: a typed code and a sentence, never a stack. */
export function installErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: Error & { statusCode?: number; validation?: unknown }, request, reply) => {
    const wire = fromFastify(error)
    if (wire.code === 'gateway/internal') request.log.error({ err: error }, 'request failed')
    return reply
      .code(error instanceof CoreError ? statusOf(wire.code) : (error.statusCode ?? statusOf(wire.code)))
      .send({ error: wire })
  })
}

function fromFastify(error: Error & { statusCode?: number; validation?: unknown }): WireError {
  if (error instanceof CoreError) return toWireError(error)
  if (error.statusCode === 429)
    return { code: 'gateway/too-many-requests', message: 'Too many tries. Wait a minute, then try again.' }
  if (error.statusCode !== undefined && error.statusCode < 500)
    return { code: 'gateway/bad-request', message: error.message }
  return toWireError(error)
}
