import { basePath } from './base.ts'
import { noteServerTime } from './store/server-time.ts'
import type { WireError } from '../../server/wire/errors.ts'
import type { UsageReport } from '../../server/wire/models.ts'
import type {
  DryRun,
  PresetSource,
  PresetUsage,
  PresetVocabulary,
  RequestRow,
  RequestView,
} from '../../server/wire/presets.ts'
import type { EventPage, SearchHit, SessionPage } from '../../server/wire/protocol.ts'

export type Answer<T> = { ok: true; value: T } | { ok: false; status: number; error: WireError }

/** Resolves against the base that the server wrote into the page, so that it works below any path. */
export const apiUrl = (path: string): string => new URL(`${basePath()}api/${path}`, location.href).href

export const socketUrl = (): string => apiUrl('socket').replace(/^http/, 'ws')

async function ask<T>(path: string, init?: RequestInit): Promise<Answer<T>> {
  try {
    const response = await fetch(apiUrl(path), { credentials: 'same-origin', ...init })
    noteServerTime(Date.parse(response.headers.get('date') ?? ''))
    const text = await response.text()
    if (response.ok) return { ok: true, value: (text === '' ? null : JSON.parse(text)) as T }
    return { ok: false, status: response.status, error: errorOf(text, response) }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    return { ok: false, status: 0, error: { code: 'gateway/internal', message } }
  }
}

const CODES: { readonly [status: number]: WireError['code'] } = {
  401: 'gateway/unauthorized',
  403: 'gateway/forbidden',
  404: 'gateway/not-found',
  429: 'gateway/too-many-requests',
}

/** The server answers `{error: {code, message}}` or the error itself; a proxy in between may answer anything. */
function errorOf(text: string, response: Response): WireError {
  try {
    const body = JSON.parse(text) as { error?: WireError } & Partial<WireError>
    const error = body.error ?? body
    if (typeof error.code === 'string' && typeof error.message === 'string') return error as WireError
  } catch {
    // Not JSON: the status line is all there is to say.
  }
  const code = CODES[response.status] ?? 'gateway/internal'
  return { code, message: `The server answered ${response.status} ${response.statusText}.` }
}

const query = (values: Record<string, string | number | undefined>): string => {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(values)) if (value !== undefined) params.set(key, String(value))
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

/** What lets a browser in: the access token, or the code of a link that works once. */
export type Ticket = { token: string } | { code: string }

const post = (path: string, body: unknown): Promise<Answer<unknown>> =>
  ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

export const login = (ticket: Ticket): Promise<Answer<unknown>> => post('login', ticket)

/** Whether the server has this page: 401 wants a login, 403 and 421 refuse its address. */
export const checkAccess = (): Promise<Answer<unknown>> => post('access', {})

export const listSessions = (cursor?: string): Promise<Answer<SessionPage>> => ask(`sessions${query({ cursor })}`)

/** The newest 200: an archive is looked up by search, not by scrolling. */
export const listArchived = (): Promise<Answer<SessionPage>> => ask('sessions?archived=true&limit=200')

export const olderEvents = (session: string, before: number, limit: number): Promise<Answer<EventPage>> =>
  ask(`sessions/${encodeURIComponent(session)}/events${query({ before, limit })}`)

export const search = (q: string, signal: AbortSignal): Promise<Answer<{ hits: SearchHit[] }>> =>
  ask(`search${query({ q })}`, { signal })

/** A plain link: the login cookie goes with it. */
export const sessionExport = (session: string): string => apiUrl(`sessions/${encodeURIComponent(session)}/export`)

const requestsOf = (session: string): string => `sessions/${encodeURIComponent(session)}/requests`

/** Every model request of a session, oldest first. */
export const requestRows = (session: string): Promise<Answer<RequestRow[]>> => ask(requestsOf(session))

export const requestView = (session: string, turn: number, step: number): Promise<Answer<RequestView>> =>
  ask(`${requestsOf(session)}/${turn}/${step}`)

const ofPreset = (id: string, path: string): string => `presets/${encodeURIComponent(id)}/${path}`

/** The document as written; an own one comes with its earlier texts. */
export const presetSource = (id: string): Promise<Answer<PresetSource>> => ask(ofPreset(id, 'source'))

export const presetVersion = (id: string, version: string): Promise<Answer<{ text: string }>> =>
  ask(ofPreset(id, `source/${encodeURIComponent(version)}`))

/** What an agent of the preset is given now. */
export const presetContents = (id: string): Promise<Answer<DryRun>> => ask(ofPreset(id, 'contents'))

export const presetUsage = (id: string): Promise<Answer<PresetUsage>> => ask(ofPreset(id, 'usage'))

export const presetVocabulary = (): Promise<Answer<PresetVocabulary>> => ask('presets/vocabulary')

/** What is counted: a period in days up to today, of one folder or preset or of all. */
export interface UsageQuery {
  days: number
  cwd?: string | undefined
  preset?: string | undefined
}

export const usageReport = ({ days, cwd, preset }: UsageQuery): Promise<Answer<UsageReport>> =>
  ask(`usage${query({ days, cwd, preset })}`)

/** A plain link: the login cookie goes with it. */
export const usageCsv = ({ days, cwd, preset }: UsageQuery): string =>
  apiUrl(`usage.csv${query({ days, cwd, preset })}`)
