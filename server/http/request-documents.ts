import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { CoreError } from '../wire/errors.ts'
import { SESSION_ID } from '../wire/ids.ts'
import { requestsOf, requestView } from '../session/requests.ts'
import type { Sessions } from '../session/sessions.ts'

const Session = z.strictObject({ id: z.string().regex(SESSION_ID) })
const number = z.coerce.number().int().min(1)

/** What a session's model requests were made of, rebuilt from its log: live, closed and damaged ones alike. */
export function installRequestDocuments(server: FastifyInstance, { sessions }: { sessions: Sessions }): void {
  const app = server.withTypeProvider<ZodTypeProvider>()
  app.get(
    '/api/sessions/:id/requests',
    { schema: { summary: 'Every model request of a session, oldest first', params: Session } },
    async (request) => {
      const view = await sessions.view(request.params.id)
      try {
        return requestsOf(view.events, view.header)
      } finally {
        view.release()
      }
    },
  )
  app.get(
    '/api/sessions/:id/requests/:turn/:step',
    {
      schema: {
        summary: 'System prompt, sections, contexts and tools of one request',
        params: Session.extend({ turn: number, step: number }),
      },
    },
    async (request) => {
      const { id, turn, step } = request.params
      const view = await sessions.view(id)
      try {
        const found = requestView(view.events, view.header, turn, step)
        if (found) return found
        throw new CoreError('gateway/not-found', `This session made no request in step ${step} of turn ${turn}.`)
      } finally {
        view.release()
      }
    },
  )
}
