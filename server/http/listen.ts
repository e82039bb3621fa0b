import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

export interface Bind {
  host: string
  port: number
  /** Absolute path; listens there instead of on host and port. */
  socket?: string
  auth: boolean
  allowHost: readonly string[]
  basePath: string
  /** Who holds a port, for the sentence that says it is taken. */
  owner: (port: number) => { pid: number; name: string } | undefined
}

/** Loopback is not a boundary, but anything wider is open to the network: it needs the token and named authorities. Throws the refusal. */
export function refuseOpenBind({ host, socket, auth, allowHost }: Omit<Bind, 'owner'>): void {
  if (socket !== undefined || LOOPBACK.has(host)) return
  if (!auth) throw new Error(`--no-auth works on 127.0.0.1 only, not on ${host}. Leave out --no-auth.`)
  if (allowHost.length === 0)
    throw new Error(
      `Listening on ${host} reaches beyond this machine. Name the hosts it may be reached by with --allow-host, and put TLS in front of it.`,
    )
}

/** What a person should know of the way in that was chosen. */
export function bindWarnings({ host, socket, auth, allowHost }: Omit<Bind, 'owner'>): string[] {
  const warnings: string[] = []
  if (!auth)
    warnings.push(
      `warning: --no-auth lets every process of this machine${allowHost.length > 0 ? ', and everybody who reaches its proxy,' : ''} run commands as you.`,
    )
  if (socket === undefined && !LOOPBACK.has(host))
    warnings.push(
      `warning: listening on ${host} without TLS: what passes, the login included, can be read and changed on the way. Put a proxy with TLS in front (docs/reverse-proxy.md).`,
    )
  return warnings
}

/** Addresses at which a person opens the page, the nearest first; none for a socket without a public origin. */
export function addresses({ host, socket, allowHost, basePath }: Omit<Bind, 'owner'>, port: number): string[] {
  const named = allowHost.map((entry) => {
    if (entry.includes('://')) return entry + basePath
    return `http://${/:\d+$/.test(entry) ? entry : `${entry}:${port}`}${basePath}`
  })
  if (socket !== undefined) return named.filter((address) => !address.endsWith(`:${port}${basePath}`))
  if (!LOOPBACK.has(host)) return named
  const own = `http://${host.includes(':') ? `[${host}]` : host}:${port}${basePath}`
  return [own, ...named.filter((address) => address.startsWith('https:'))]
}

export const portOf = (server: FastifyInstance): number => {
  const address = server.server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Listens, or throws one sentence that names who is in the way and the next step. */
export async function listen(server: FastifyInstance, { host, port, socket, owner }: Bind): Promise<void> {
  try {
    if (socket === undefined) return void (await server.listen({ host, port }))
    await removeStale(socket)
    await server.listen({ path: socket })
    chmodSync(socket, 0o600)
  } catch (error) {
    await server.close()
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' && socket === undefined)
      throw new Error(`Port ${port} needs rights that this user lacks. Take one above 1023, or a proxy.`, {
        cause: error,
      })
    if (code !== 'EADDRINUSE') throw error
    throw new Error(taken(host, port, socket === undefined ? owner(port) : undefined, socket), { cause: error })
  }
}

// oxlint-disable-next-line max-params -- the parts of one sentence
function taken(host: string, port: number, by: { pid: number; name: string } | undefined, socket?: string): string {
  if (socket !== undefined)
    return `The socket ${socket} is in use by another server. Stop it, or give another --socket.`
  const who = by ? ` by ${by.name} (pid ${by.pid})` : ''
  return `Port ${port} on ${host} is already in use${who}. Stop what uses it, or start with --port 0 to take a free one.`
}

/** The file of a server that was killed stays behind; one that still answers is not touched, and neither is anything else. */
async function removeStale(socket: string): Promise<void> {
  const there = lstatSync(socket, { throwIfNoEntry: false })
  if (!there) return
  if (!there.isSocket()) throw new Error(`${socket} exists and is no socket. Give another --socket.`)
  const answers = await new Promise<boolean>((resolve) => {
    const probe = connect(socket, () => resolve(true))
    probe.on('error', () => resolve(false))
    probe.on('connect', () => probe.destroy())
  })
  if (!answers) rmSync(socket)
}
