import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { CoreError } from '../wire/errors.ts'
import { cookieValue, proofOf, sameSecret, type LoginCodes } from './access.ts'
import type { Fence } from './fence.ts'

/** Tries per minute and address at the login, and at the links for it. */
const TRIES = 10
const COOKIE_SECONDS = 180 * 24 * 3600
const limited = { rateLimit: { max: TRIES, timeWindow: '1 minute' } }

export interface LoginOptions {
  codes: LoginCodes
  links: () => string[]
  place: () => string
}

/** The ways in: alive, token or one-time code for the cookie of this port, and a fresh link for those who are in. */
export function installLogin(server: FastifyInstance, fence: Fence, options: LoginOptions): void {
  const app = server.withTypeProvider<ZodTypeProvider>()
  const { token } = fence.options
  const { codes, links, place } = options
  app.get(
    '/healthz',
    {
      schema: {
        summary: 'Alive; with a nonce also the proof that this server holds its token',
        querystring: z.object({
          nonce: z
            .string()
            .regex(/^[0-9a-f]{32}$/)
            .optional(),
        }),
      },
    },
    ({ query: { nonce } }) => ({
      ok: true,
      ...(nonce !== undefined && token !== undefined && { proof: proofOf(token, nonce, place()) }),
    }),
  )
  app.post(
    '/api/login',
    {
      schema: {
        summary: 'Exchange the access token, or the code of a login link, for a cookie',
        body: z.union([z.strictObject({ token: z.string().max(256) }), z.strictObject({ code: z.string().max(64) })]),
      },
      config: limited,
    },
    (request, reply) => {
      if (token === undefined) return { ok: true }
      const { body } = request
      const problem = 'code' in body ? codeProblem(codes, body.code) : tokenProblem(body.token, token)
      if (problem !== undefined) throw new CoreError('gateway/unauthorized', problem)
      letIn({ request, reply, name: fence.options.cookieName(), token, path: server.prefix || '/' })
      return { ok: true }
    },
  )
  // A page whose socket is refused asks here why: this request carries the same Origin and cookie, and has an answer to read.
  app.post('/api/access', { schema: { summary: 'Whether this client is let in' } }, () => ({ ok: true }))
  app.post(
    '/api/login-link',
    { schema: { summary: 'A fresh one-time link per address of the page' }, config: limited },
    () => ({ links: links() }),
  )
}

const tokenProblem = (given: string, token: string): string | undefined =>
  sameSecret(given, token)
    ? undefined
    : "That is not this server's token. Find it in the file named token in its data folder, or run `npm run login` for a link."

const codeProblem = (codes: LoginCodes, code: string): string | undefined =>
  codes.redeem(code)
    ? undefined
    : 'This link was used already, or is too old. Run `npm run login` for a new one, or paste the token from the data folder.'

interface Entrance {
  request: FastifyRequest
  reply: FastifyReply
  name: string
  token: string
  path: string
}

function letIn({ request, reply, name, token, path }: Entrance): void {
  reply.setCookie(name, cookieValue(token), {
    httpOnly: true,
    sameSite: 'strict',
    path,
    // The fence has compared Origin with the public one: a page under TLS, whatever the last hop speaks.
    secure: request.protocol === 'https' || request.headers.origin?.startsWith('https:') === true,
    maxAge: COOKIE_SECONDS,
  })
}
