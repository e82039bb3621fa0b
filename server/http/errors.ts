import type { FastifyInstance, FastifyReply } from 'fastify'
import { CoreError, toWireError, type ErrorCode, type WireError } from '../wire/errors.ts'

const STATUS: Partial<Record<ErrorCode, number>> = {
  'agent-preset/not-found': 404,
  'agent-preset/conflict': 409,
  'agent-preset/locked': 409,
  'agent-preset/exists': 409,
  'agent-preset/changed-meanwhile': 409,
  'agent-preset/not-own': 403,
  'agent-preset/not-saved': 507,
  'session/not-found': 404,
  'session/conflict': 409,
  'session/agent-busy': 409,
  'session/writer-held': 409,
  'session/corrupt': 409,
  'session/read-only': 409,
  'workspace/not-found': 404,
  'provider/not-found': 404,
  'gateway/unauthorized': 401,
  'gateway/forbidden': 403,
  'gateway/not-found': 404,
  'gateway/too-many-requests': 429,
  'gateway/internal': 500,
}

/** Codes of what the framework itself refuses. */
const CODES: { readonly [status: number]: ErrorCode } = {
  401: 'gateway/unauthorized',
  403: 'gateway/forbidden',
  404: 'gateway/not-found',
}

export const statusOf = (code: ErrorCode): number => STATUS[code] ?? 400

/** One error table for every route: a typed code and a sentence, never a stack. `report` hears of unexpected ones. */
export function installErrors(app: FastifyInstance, report: (error: unknown) => void): void {
  app.setErrorHandler((error: HttpError, _request, reply) => {
    if (fromFastify(error).code === 'gateway/internal') report(error)
    return sendError(reply, error)
  })
}

type HttpError = Error & { statusCode?: number }

export function sendError(reply: FastifyReply, error: HttpError): FastifyReply {
  const wire = fromFastify(error)
  return reply
    .code(error instanceof CoreError ? statusOf(wire.code) : (error.statusCode ?? statusOf(wire.code)))
    .type('application/json; charset=utf-8')
    .send({ error: wire })
}

function fromFastify(error: HttpError): WireError {
  if (error instanceof CoreError) return toWireError(error)
  if (error.statusCode === 429)
    return { code: 'gateway/too-many-requests', message: 'Too many tries. Wait a minute, then try again.' }
  if (error.statusCode !== undefined && error.statusCode < 500)
    return { code: CODES[error.statusCode] ?? 'gateway/bad-request', message: error.message }
  return toWireError(error)
}
