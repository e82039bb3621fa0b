import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CoreError, toWireError, type ErrorCode, type WireError } from '../wire/errors.ts'
import type { Refusal } from './fence.ts'

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

const escape = (text: string) => text.replace(/[&"<>]/g, (char) => `&#${char.charCodeAt(0)};`)

/** A refusal by the fence: a person who opened an address gets a page with its sentence, a program the typed error. */
export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, code, message } = refusal
  const byPerson = request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? '')
  if (!byPerson || request.headers.upgrade !== undefined) return reply.code(status).send({ error: { code, message } })
  return reply.code(status).type('text/html; charset=utf-8')
    .send(`<!doctype html><meta charset="utf-8"><title>core-web: ${status}</title>
<body style="font:14px/22px system-ui;max-width:36em;margin:15vh auto;padding:0 20px">
<h1 style="font-size:20px">${status}: refused</h1>
<p>${escape(message)}</p>`)
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
