import type { CommandArgs, CommandName } from '../../../server/wire/commands.ts'
import type { SessionPage } from '../../../server/wire/protocol.ts'
import type { SessionRow } from '../../../server/wire/views.ts'
import { checkAccess, listArchived, listSessions, login as postLogin, olderEvents, socketUrl } from '../api.ts'
import type { Ticket } from '../api.ts'
import { Connection } from '../connection/connection.ts'
import type { Outcome, Socket, Status } from '../connection/connection.ts'
import { bindFrames, receive } from './frames.ts'
import { live } from './live.ts'
import { goneRows } from './gone-rows.ts'
import { withOlder } from './session-view.ts'
import { addProblem, clearProblems, get, set } from './store.ts'
import type { SessionView } from './session-view.ts'

const PAGE = 300
/** Sessions kept in memory after they were left, so that going back is instant. */
const KEPT = 6

let connection: Connection | undefined
const recent: string[] = []
/** Sessions on screen: a connection that comes later attaches them. */
const watched = new Set<string>()

const clock = {
  now: () => Date.now(),
  after(ms: number, call: () => void) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}

/** Exchanges the token or one-time code of the address, if there is one, and connects. */
export async function start(): Promise<void> {
  const ticket = takeTicket()
  const entry = ticket && (await postLogin(ticket))
  const page = await listSessions()
  if (!page.ok && page.status === 401)
    return set({ auth: 'out', ...(entry?.ok === false && { refusal: entry.error.message }) })
  if (!page.ok && isRefused(page.status)) return set({ auth: 'out', refusal: page.error.message })
  if (page.ok) mergeRows(page.value)
  connect()
}

/** Both leave the address bar and the history before anything else happens. */
function takeTicket(): Ticket | undefined {
  const given = new URLSearchParams(window.location.hash.slice(1))
  const [token, code] = [given.get('token'), given.get('code')]
  if (!token && !code) return undefined
  window.history.replaceState(null, '', window.location.pathname + window.location.search)
  return token ? { token } : { code: code! }
}

/** A server or proxy that will not have this page at all: no token helps. */
const isRefused = (status: number): boolean => status === 403 || status === 421

export async function logIn(token: string): Promise<string | undefined> {
  const answer = await postLogin({ token })
  if (!answer.ok) return answer.error.message
  set({ auth: 'checking', refusal: undefined })
  await start()
  return undefined
}

function connect(): void {
  connection?.close()
  bindFrames({ onGap: reopen, onHello: () => void refreshRows() })
  connection = new Connection({
    open: () => new WebSocket(socketUrl()) as unknown as Socket,
    clock,
    onFrame: receive,
    onStatus,
    onPending: (pending) => set({ pending }),
    lastSeq(session) {
      const view = get().sessions[session]
      return view?.kind === 'open' ? view.to : -1
    },
  })
  for (const session of watched) connection.attach(session)
  window.addEventListener('online', retryNow)
  document.addEventListener('visibilitychange', () => document.hidden || retryNow())
}

export const retryNow = (): void => connection?.retryNow()

function onStatus(status: Status): void {
  set({ status })
  // A socket cannot tell that it was refused for want of a login; a request can.
  if (status.kind === 'lost' && status.failures % 4 === 1) void checkLogin()
}

/** Asked by POST, which carries the Origin that the socket is judged by; a plain GET would not. */
async function checkLogin(): Promise<void> {
  const answer = await checkAccess()
  if (answer.ok || !(answer.status === 401 || isRefused(answer.status))) return
  connection?.close()
  connection = undefined
  set({ auth: 'out', ...(answer.status !== 401 && { refusal: answer.error.message }) })
}

function addRows(added: readonly SessionRow[]): void {
  const rows = { ...get().rows }
  for (const row of added) rows[row.id] = row
  set({ rows })
}

function mergeRows({ rows, next }: SessionPage): void {
  addRows(rows)
  set({ rowsPage: next === undefined ? {} : { next } })
}

async function refreshRows(): Promise<void> {
  const held = Object.values(get().rows)
  const [page, archived] = await Promise.all([listSessions(), listArchived()])
  if (page.ok && archived.ok) dropRows(goneRows(held, [page.value, archived.value]))
  if (page.ok) mergeRows(page.value)
  if (archived.ok) addRows(archived.value.rows)
}

/** Sessions that were deleted while the line was down: nothing announces them later. */
function dropRows(ids: readonly string[]): void {
  if (ids.length === 0) return
  const rows = { ...get().rows }
  for (const id of ids) delete rows[id]
  set({ rows })
}

export async function moreRows(): Promise<void> {
  const cursor = get().rowsPage?.next
  if (cursor === undefined) return
  set({ rowsPage: {} })
  const page = await listSessions(cursor)
  if (page.ok) return mergeRows(page.value)
  set({ rowsPage: { next: cursor } })
}

/** Shows a session: from memory if it is held, and followed live from there. Sends no command (B11). */
export function openSession(id: string): () => void {
  const held = get().sessions[id]
  if (held?.kind !== 'open') put(id, { kind: 'loading' })
  watched.add(id)
  connection?.attach(id)
  const index = recent.indexOf(id)
  if (index >= 0) recent.splice(index, 1)
  recent.unshift(id)
  for (const old of recent.splice(KEPT)) drop(old)
  return () => {
    watched.delete(id)
    connection?.detach(id)
    live.clear(id)
  }
}

function put(id: string, view: SessionView): void {
  set({ sessions: { ...get().sessions, [id]: view } })
}

function drop(id: string): void {
  const { [id]: _, ...sessions } = get().sessions
  set({ sessions })
}

function reopen(id: string): void {
  drop(id)
  put(id, { kind: 'loading' })
  connection?.attach(id)
}

export const retrySession = reopen

const loading = new Set<string>()

/** Loads the page before the held one; does nothing at the start of the log or while a page is on its way. */
export async function loadOlder(id: string): Promise<void> {
  const view = get().sessions[id]
  if (view?.kind !== 'open' || view.from <= 0 || loading.has(id)) return
  loading.add(id)
  const page = await olderEvents(id, view.from, PAGE)
  loading.delete(id)
  if (!page.ok) {
    addProblem({ place: `session:${id}`, command: 'load', error: page.error, retry: () => void loadOlder(id) })
    return
  }
  clearProblems(`session:${id}`, 'load')
  const now = get().sessions[id]
  if (now?.kind === 'open') put(id, withOlder(now, page.value.events))
}

export interface RunOptions {
  /** Where a refusal is shown; `none`: the caller shows it. */
  place?: string
  /** Offered as "Try again"; absent: the same command. */
  retry?: () => void
}

/** Sends a command; a refusal is shown at its place until it is dealt with (B02). */
export async function run<N extends CommandName>(
  name: N,
  args: CommandArgs<N>,
  options: RunOptions = {},
): Promise<Outcome<N>> {
  const { place = 'global' } = options
  if (!connection) return { ok: false, error: { code: 'gateway/unauthorized', message: 'Log in first.' } }
  const outcome = await connection.command(name, args)
  if (place === 'none') return outcome
  if (outcome.ok) clearProblems(place, name)
  else if (outcome.error.code !== 'gateway/cancelled')
    addProblem({
      place,
      command: name,
      error: outcome.error,
      retry: options.retry ?? (() => void run(name, args, options)),
    })
  return outcome
}

export const withdraw = (id: string): boolean => connection?.withdraw(id) ?? false
