import { create } from 'zustand'
import type { CommandName } from '../../../server/wire/commands.ts'
import type { WireError } from '../../../server/wire/errors.ts'
import type { GlobalState, SessionRow } from '../../../server/wire/views.ts'
import type { Pending, Status } from '../connection/connection.ts'
import type { SessionView } from './session-view.ts'

/** A rejected command. It stays on screen, at its place, until it is dismissed or the command succeeds. */
export interface Problem {
  id: string
  /** Where it is shown: `session:<id>`, `new`, `provider:<id>`, or `global`. */
  place: string
  command: CommandName | 'load'
  error: WireError
  retry?: () => void
}

export interface Toast {
  id: string
  tone: 'plain' | 'ok' | 'warn'
  text: string
  action?: { label: string; run(): void }
  /** Ms since the epoch at which it leaves. */
  until: number
}

export interface AppState {
  auth: 'checking' | 'in' | 'out'
  /** Why the way in was refused, in the server's words; shown at the login. */
  refusal?: string | undefined
  status: Status
  global: GlobalState | undefined
  rows: Readonly<Record<string, SessionRow>>
  /** `undefined` until the first page; a cursor while more rows are on the server. */
  rowsPage: { next?: string } | undefined
  sessions: Readonly<Record<string, SessionView>>
  pending: readonly Pending[]
  problems: readonly Problem[]
  toasts: readonly Toast[]
  overlay: Overlay | undefined
}

export type Overlay =
  | { kind: 'palette' }
  | { kind: 'shortcuts' }
  | { kind: 'rail' }
  /** `seq`: the event the fork is made at; the latest finished turn without one. */
  | { kind: 'fork'; session: string; seq?: number }
  | { kind: 'folder'; onAdded?: (workspace: string) => void }

export const useApp = create<AppState>()(() => ({
  auth: 'checking',
  status: { kind: 'connecting', since: Date.now() },
  global: undefined,
  rows: {},
  rowsPage: undefined,
  sessions: {},
  pending: [],
  problems: [],
  toasts: [],
  overlay: undefined,
}))

export const get = useApp.getState
export const set = useApp.setState

let counter = 0
const nextId = (): string => `n${++counter}`

export function addProblem(problem: Omit<Problem, 'id'>): void {
  const others = get().problems.filter((held) => held.place !== problem.place || held.command !== problem.command)
  set({ problems: [...others, { ...problem, id: nextId() }] })
}

export const dismissProblem = (id: string): void =>
  set({ problems: get().problems.filter((problem) => problem.id !== id) })

export function clearProblems(place: string, command: Problem['command']): void {
  const rest = get().problems.filter((problem) => problem.place !== place || problem.command !== command)
  if (rest.length !== get().problems.length) set({ problems: rest })
}

/** Results, never questions: a toast leaves by itself after `ms`. */
export function toast(text: string, options: Partial<Pick<Toast, 'tone' | 'action'>> & { ms?: number } = {}): void {
  const { tone = 'plain', action, ms = action ? 8000 : 4000 } = options
  const id = nextId()
  set({ toasts: [...get().toasts.slice(-2), { id, tone, text, until: Date.now() + ms, ...(action && { action }) }] })
  setTimeout(() => dismissToast(id), ms)
}

export const dismissToast = (id: string): void => set({ toasts: get().toasts.filter((held) => held.id !== id) })

export const openOverlay = (overlay: Overlay | undefined): void => set({ overlay })
