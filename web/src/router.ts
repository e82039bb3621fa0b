import { useSyncExternalStore } from 'react'
import { basePath } from './base.ts'

/** Every place has a path below the base; what is not known leads to `missing`. */
export type Route =
  | { place: 'home' }
  | { place: 'new'; workspace?: string }
  | { place: 'session'; id: string; prompt?: PromptPlace }
  | { place: 'presets'; id?: string; tab?: PresetTab }
  | ({ place: 'usage' } & UsagePlace)
  /** `provider` and `model`: the row to open, and the model whose figures are asked for. */
  | { place: 'settings'; page: SettingsPage; provider?: string; model?: string }
  | { place: 'missing'; path: string }
/** The Prompt view of a session: of one request, of the first of a turn, or of the newest. */
export interface PromptPlace {
  turn?: number
  step?: number
  /** The request it is compared with; without a session one of the same session. */
  against?: RequestPlace
}
export interface RequestPlace {
  session?: string
  turn: number
  step: number
}
/** What of the usage is shown; what is absent is its default: 30 days, everything, cost. */
export interface UsagePlace {
  days?: UsageDays
  cwd?: string
  preset?: string
  unit?: UsageUnit
}
export const USAGE_DAYS = [7, 30, 90] as const
export type UsageDays = (typeof USAGE_DAYS)[number]
export const USAGE_UNITS = ['cost', 'tokens', 'requests'] as const
export type UsageUnit = (typeof USAGE_UNITS)[number]

export const SETTINGS_PAGES = ['models', 'sessions', 'permissions', 'appearance', 'about'] as const
export type SettingsPage = (typeof SETTINGS_PAGES)[number]

/** What of a preset is shown; without one, what it gives. */
export const PRESET_TABS = ['document', 'edit', 'generations', 'health'] as const
export type PresetTab = (typeof PRESET_TABS)[number]

export function parse(pathname: string, search = '', base = '/'): Route {
  const inside = pathname.startsWith(base) ? pathname.slice(base.length) : pathname.replace(/^\//, '')
  const [head = '', second, ...more] = inside.split('/').filter(Boolean).map(decode)
  const missing: Route = { place: 'missing', path: pathname }
  if (head === 'presets') return presetPlace(second, more) ?? missing
  if (head === 's' && second && more[0] === 'prompt') return promptPlace(second, more.slice(1), search) ?? missing
  if (more.length > 0) return missing
  if (head === '' && second === undefined) return { place: 'home' }
  if (head === 'new' && second === undefined) {
    const workspace = new URLSearchParams(search).get('workspace')
    return workspace ? { place: 'new', workspace } : { place: 'new' }
  }
  if (head === 's' && second) return { place: 'session', id: second }
  if (head === 'settings') {
    const page = SETTINGS_PAGES.find((candidate) => candidate === (second ?? 'models'))
    return page ? { place: 'settings', page, ...named(search, ['provider', 'model']) } : missing
  }
  if (head === 'usage' && second === undefined) return { place: 'usage', ...usagePlace(search) }
  return missing
}

/** Those of the parameters that are there and say something. */
function named<K extends string>(search: string, names: readonly K[]): { [name in K]?: string } {
  const params = new URLSearchParams(search)
  const found = names.map((name) => [name, params.get(name)] as const).filter(([, value]) => value)
  return Object.fromEntries(found) as { [name in K]?: string }
}

/** A period or unit that does not exist is the default one. */
function usagePlace(search: string): UsagePlace {
  const { days: period, unit: kind, ...filters } = named(search, ['days', 'cwd', 'preset', 'unit'])
  const days = USAGE_DAYS.find((candidate) => String(candidate) === period)
  const unit = USAGE_UNITS.find((candidate) => candidate === kind)
  return { ...(days && { days }), ...filters, ...(unit && { unit }) }
}

function withQuery(path: string, values: Record<string, string | number | undefined>): string {
  const said = Object.entries(values).filter(([, value]) => value !== undefined)
  const params = new URLSearchParams(said.map(([name, value]) => [name, String(value)]))
  return said.length === 0 ? path : `${path}?${params}`
}

function presetPlace(id: string | undefined, [name, ...more]: string[]): Route | undefined {
  if (id === undefined) return { place: 'presets' }
  if (name === undefined) return { place: 'presets', id }
  const tab = PRESET_TABS.find((candidate) => candidate === name)
  return tab && more.length === 0 ? { place: 'presets', id, tab } : undefined
}

function promptPlace(id: string, [turn, step, ...more]: string[], search: string): Route | undefined {
  const whole = (text: string) => /^[1-9]\d{0,8}$/.test(text)
  if (more.length > 0 || ![turn, step].every((part) => part === undefined || whole(part))) return undefined
  const against = againstOf(new URLSearchParams(search).get('against') ?? '')
  const prompt: PromptPlace = {
    ...(turn !== undefined && { turn: Number(turn) }),
    ...(step !== undefined && { step: Number(step) }),
    ...(against && { against }),
  }
  return { place: 'session', id, prompt }
}

/** `<turn>.<step>`, or `<session>.<turn>.<step>`; anything else compares with nothing. */
function againstOf(text: string): RequestPlace | undefined {
  const match = /^(?:([^.]+)\.)?(\d{1,9})\.(\d{1,9})$/.exec(text)
  if (!match) return undefined
  const [, session, turn, step] = match
  return { turn: Number(turn), step: Number(step), ...(session !== undefined && { session }) }
}

function promptPath({ turn, step, against }: PromptPlace): string {
  const path = ['prompt', turn, turn === undefined ? undefined : step].filter((part) => part !== undefined).join('/')
  if (!against) return `/${path}`
  const parts = [against.session, against.turn, against.step].filter((part) => part !== undefined)
  return `/${path}?against=${encodeURIComponent(parts.join('.'))}`
}

/** A path segment may hold a stray percent sign; it then stands for itself. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

export function format(route: Route, base = '/'): string {
  switch (route.place) {
    case 'home':
      return base
    case 'new':
      return `${base}new${route.workspace ? `?workspace=${encodeURIComponent(route.workspace)}` : ''}`
    case 'session':
      return `${base}s/${encodeURIComponent(route.id)}${route.prompt ? promptPath(route.prompt) : ''}`
    case 'presets':
      return `${base}presets${route.id ? `/${encodeURIComponent(route.id)}${route.tab ? `/${route.tab}` : ''}` : ''}`
    case 'settings':
      return withQuery(`${base}settings/${route.page}`, { provider: route.provider, model: route.model })
    case 'usage': {
      const { days, cwd, preset, unit } = route
      return withQuery(`${base}usage`, { days, cwd, preset, unit })
    }
    case 'missing':
      return route.path
  }
}

const listeners = new Set<() => void>()
let current: { href: string; route: Route } | undefined

export function currentRoute(): Route {
  const { pathname, search } = window.location
  const href = pathname + search
  if (current?.href !== href) current = { href, route: parse(pathname, search, basePath()) }
  return current.route
}

export function navigate(route: Route, how: 'push' | 'replace' = 'push'): void {
  const href = format(route, basePath())
  if (href !== window.location.pathname + window.location.search)
    window.history[how === 'push' ? 'pushState' : 'replaceState'](null, '', href)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('popstate', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('popstate', listener)
  }
}

export const useRoute = (): Route => useSyncExternalStore(subscribe, currentRoute)

/** What a link with this route needs: a real address, and a plain click that stays in the page. */
export function linkTo(route: Route): { href: string; onClick(event: LinkClick): void } {
  return {
    href: format(route, basePath()),
    onClick(event) {
      if (
        event.defaultPrevented ||
        event.button !== 0 ||
        event.metaKey ||
        event.ctrlKey ||
        event.shiftKey ||
        event.altKey
      )
        return
      event.preventDefault()
      navigate(route)
    },
  }
}

interface LinkClick {
  defaultPrevented: boolean
  button: number
  metaKey: boolean
  ctrlKey: boolean
  shiftKey: boolean
  altKey: boolean
  preventDefault(): void
}
