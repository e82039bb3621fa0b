import { useSyncExternalStore } from 'react'
import { basePath } from './base.ts'

/** Every place has a path below the base; what is not known leads to `missing`. */
export type Route =
  | { place: 'home' }
  | { place: 'new'; workspace?: string }
  | { place: 'session'; id: string }
  | { place: 'presets'; id?: string }
  | { place: 'settings'; page: SettingsPage }
  | { place: 'missing'; path: string }
export const SETTINGS_PAGES = ['models', 'appearance', 'about'] as const
export type SettingsPage = (typeof SETTINGS_PAGES)[number]

export function parse(pathname: string, search = '', base = '/'): Route {
  const inside = pathname.startsWith(base) ? pathname.slice(base.length) : pathname.replace(/^\//, '')
  const [head = '', second, ...more] = inside.split('/').filter(Boolean).map(decode)
  const missing: Route = { place: 'missing', path: pathname }
  if (more.length > 0) return missing
  if (head === '' && second === undefined) return { place: 'home' }
  if (head === 'new' && second === undefined) {
    const workspace = new URLSearchParams(search).get('workspace')
    return workspace ? { place: 'new', workspace } : { place: 'new' }
  }
  if (head === 's' && second) return { place: 'session', id: second }
  if (head === 'presets') return second ? { place: 'presets', id: second } : { place: 'presets' }
  if (head === 'settings') {
    const page = SETTINGS_PAGES.find((candidate) => candidate === (second ?? 'models'))
    return page ? { place: 'settings', page } : missing
  }
  return missing
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
      return `${base}s/${encodeURIComponent(route.id)}`
    case 'presets':
      return `${base}presets${route.id ? `/${encodeURIComponent(route.id)}` : ''}`
    case 'settings':
      return `${base}settings/${route.page}`
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
