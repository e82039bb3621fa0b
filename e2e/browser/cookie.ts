import type { Served } from '../process.ts'

const known = new Map<string, Promise<{ name: string; value: string; url: string }>>()

/** The login cookie of a server, asked for once: the server counts logins, and a suite makes many pages. */
export function cookieOf(server: Served): Promise<{ name: string; value: string; url: string }> {
  const held = known.get(server.url)
  if (held) return held
  const cookie = logIn(server)
  known.set(server.url, cookie)
  return cookie
}

async function logIn({ base, token }: Served): Promise<{ name: string; value: string; url: string }> {
  const response = await fetch(`${base}api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  const pair = response.headers.get('set-cookie')?.split(';')[0]
  if (!response.ok || !pair) throw new Error(`the login answered ${response.status}`)
  const cut = pair.indexOf('=')
  return { name: pair.slice(0, cut), value: pair.slice(cut + 1), url: base }
}
