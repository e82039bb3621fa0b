import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { SESSION_ID } from '../wire/ids.ts'
import type { GlobalState } from '../wire/views.ts'
import { Redactor, type SecretSource } from '../redact/redact.ts'
import type { Sessions } from '../session/sessions.ts'
import { PAGE_EVENTS, eventText } from '../session/page.ts'
import { installPresetDocuments, type PresetDocumentsOptions } from './preset-documents.ts'
import { installRequestDocuments } from './request-documents.ts'
import { installUsageDocuments } from './usage-documents.ts'

const Id = z.strictObject({ id: z.string().regex(SESSION_ID) })

export interface RestOptions extends PresetDocumentsOptions {
  sessions: Sessions
  global: () => GlobalState
  /** Values that no export shows. */
  secrets: SecretSource
}

/** Read-only documents: lists, history pages, preset texts. Everything that changes something is a command of the socket. */
export function installRest(server: FastifyInstance, options: RestOptions): void {
  const { sessions, global } = options
  const app = server.withTypeProvider<ZodTypeProvider>()
  app.get('/api/state', { schema: { summary: 'Host facts, workspaces, presets and models' } }, () => global())
  app.get(
    '/api/sessions',
    {
      schema: {
        summary: 'Sessions, newest first, by pages',
        querystring: z.object({
          cursor: z.string().max(200).optional(),
          query: z.string().max(200).optional(),
          limit: z.coerce.number().int().min(1).max(200).default(100),
          archived: z.stringbool().optional(),
        }),
      },
    },
    (request) => sessions.list(request.query),
  )
  app.get(
    '/api/sessions/:id/events',
    {
      schema: {
        summary: 'Events of a session before a seq, bounded by count and bytes',
        params: Id,
        querystring: z.object({
          before: z.coerce.number().int().min(0).optional(),
          limit: z.coerce.number().int().min(1).max(PAGE_EVENTS).default(PAGE_EVENTS),
        }),
      },
    },
    async (request, reply) => {
      const page = await sessions.page(request.params.id, request.query)
      reply.type('application/json; charset=utf-8')
      return `{"from":${page[0]?.seq ?? -1},"to":${page.at(-1)?.seq ?? -1},"events":[${page.map(eventText).join(',')}]}`
    },
  )
  app.get(
    '/api/search',
    {
      schema: {
        summary: 'Full-text search over all sessions',
        querystring: z.object({ q: z.string().min(1).max(200) }),
      },
    },
    async (request) => ({ hits: await sessions.search(request.query.q) }),
  )
  installExport(server, options)
  installRequestDocuments(server, options)
  installPresetDocuments(server, options)
  installUsageDocuments(server, options)
}

function installExport(server: FastifyInstance, { sessions, secrets }: RestOptions): void {
  const app = server.withTypeProvider<ZodTypeProvider>()
  app.get(
    '/api/sessions/:id/export',
    { schema: { summary: 'The log as a file: header and events, one per line, secrets taken out', params: Id } },
    async ({ params: { id } }, reply) => {
      const view = await sessions.view(id)
      try {
        reply
          .type('application/jsonl; charset=utf-8')
          .header('content-disposition', `attachment; filename="${id}.jsonl"`)
        const redactor = new Redactor(secrets)
        return [view.header, ...view.events].map((record) => `${JSON.stringify(redactor.value(record))}\n`).join('')
      } finally {
        view.release()
      }
    },
  )
}
