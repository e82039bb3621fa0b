import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { UsageLine } from '../log/index/usage.ts'
import type { Sessions } from '../session/sessions.ts'

const querystring = z.object({
  days: z.enum(['7', '30', '90']).default('30').transform(Number),
  cwd: z.string().max(4096).optional(),
  preset: z.string().max(256).optional(),
})

/** What was asked of models and what it cost; sessions in the trash are not counted. */
export function installUsageDocuments(
  server: FastifyInstance,
  { sessions }: { sessions: Pick<Sessions, 'usage'> },
): void {
  const app = server.withTypeProvider<ZodTypeProvider>()
  app.get(
    '/api/usage',
    { schema: { summary: 'Requests, tokens and cost by day, model, folder and session', querystring } },
    (request) => sessions.usage.report(filters(request.query)),
  )
  app.get(
    '/api/usage.csv',
    { schema: { summary: 'The same as a table: a line for each day, model, preset and folder', querystring } },
    async (request, reply) => {
      const lines = await sessions.usage.table(filters(request.query))
      reply
        .header('content-disposition', `attachment; filename="usage-${request.query.days}-days.csv"`)
        .type('text/csv; charset=utf-8')
      return csv(lines)
    },
  )
}

const filters = ({ days, cwd, preset }: z.output<typeof querystring>) => ({
  days,
  ...(cwd !== undefined && { cwd }),
  ...(preset !== undefined && { preset }),
})

const COLUMNS: { [name: string]: (line: UsageLine) => string | number | null | undefined } = {
  day: (line) => line.day,
  provider: (line) => line.provider,
  model: (line) => line.model,
  preset: (line) => line.preset,
  folder: (line) => line.cwd,
  requests: (line) => line.requests,
  failed: (line) => line.failed,
  retried: (line) => line.retried,
  input_tokens: (line) => line.inputTokens,
  cache_read_tokens: (line) => line.cacheReadTokens,
  cache_write_tokens: (line) => line.cacheWriteTokens,
  output_tokens: (line) => line.outputTokens,
  reasoning_tokens: (line) => line.reasoningTokens,
  estimated_cost_usd: (line) => dollars(line),
  requests_without_cost: (line) => line.unpriced,
  first_token_ms: (line) => (line.firstMs === undefined ? undefined : Math.round(line.firstMs)),
}

/** Unknown is empty, never 0: where no request of the line has a known cost there is none to tell. */
const dollars = ({ cost, requests, unpriced }: UsageLine): number | undefined =>
  unpriced === requests ? undefined : Number(cost.total.toFixed(6))

/** RFC 4180. */
export function csv(lines: readonly UsageLine[]): string {
  const rows = [Object.keys(COLUMNS), ...lines.map((line) => Object.values(COLUMNS).map((value) => value(line)))]
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

/** Spreadsheets run what begins like a formula, and a model or a folder may be named like one. */
function cell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return plain(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Without an exponent, which not every reader of tables knows. */
const plain = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(6).replace(/0+$/, ''))
