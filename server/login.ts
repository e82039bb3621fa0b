import { join } from 'node:path'
import { accessToken, storedToken } from './http/access.ts'
import { freshLinks, runningOn } from './running.ts'
import type { Flags } from './flags.ts'

/** Links of the server that already serves this data folder where this one would listen; undefined when there is none. */
export async function linksOfRunning(flags: Flags, env: NodeJS.ProcessEnv): Promise<Found | undefined> {
  const running = runningOn(flags.data)
  const token = tokenOf(flags, env)
  if (!running || token === undefined) return undefined
  const links = await freshLinks(running, token)
  return links && { pid: running.pid, port: running.port, socket: running.socket, links }
}

interface Found {
  pid: number
  port: number
  socket: string | undefined
  links: string[]
}

const tokenOf = ({ data }: Flags, env: NodeJS.ProcessEnv): string | undefined =>
  env['CORE_WEB_TOKEN'] ? accessToken(data, env['CORE_WEB_TOKEN']) : storedToken(data)

/** `npm run login`: prints a one-time link of the server that runs on this data folder. */
export async function login(flags: Flags, env: NodeJS.ProcessEnv): Promise<number> {
  const found = await linksOfRunning(flags, env)
  if (!found) {
    console.error(`No server of yours runs on ${flags.data}. Start one with npm start, or name its folder with --data.`)
    return 1
  }
  for (const link of found.links) console.log(link)
  if (found.links.length === 0)
    console.error(
      `The server listens on a socket and has no public address. Paste the token from ${join(flags.data, 'token')}.`,
    )
  return found.links.length > 0 ? 0 : 1
}
