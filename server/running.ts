import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { z } from 'zod'
import { proofOf, sameSecret } from './http/access.ts'

const FILE = 'server.json'
const ASK_MS = 3_000

const Running = z.object({
  pid: z.int().positive(),
  host: z.string(),
  port: z.int(),
  socket: z.string().optional(),
  basePath: z.string(),
})
/** The server that listens for a data folder, as it wrote itself down there. */
export type Running = z.output<typeof Running>

/** The name of a place as it stands in the proof. */
export const placeOf = ({ port, socket }: Pick<Running, 'port' | 'socket'>): string => socket ?? String(port)

/** Writes down who serves this data folder; answers what takes the note away again. */
export function noteRunning(dataDir: string, running: Running): () => void {
  const file = join(dataDir, FILE)
  writeFileSync(file, `${JSON.stringify(running)}\n`, { mode: 0o600 })
  return () => {
    if (runningOn(dataDir)?.pid === running.pid) rmSync(file, { force: true })
  }
}

/** Undefined when nobody wrote himself down, or the process is gone. Another process may have its pid by now: ask it. */
export function runningOn(dataDir: string): Running | undefined {
  try {
    const running = Running.parse(JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')))
    process.kill(running.pid, 0)
    return running
  } catch {
    return undefined // no note, no note of ours, or nobody behind it
  }
}

interface Answer {
  status: number
  body: string
}

function ask({ host, port, socket, basePath }: Running, path: string, token?: string): Promise<Answer> {
  const at = socket === undefined ? { host: reachable(host), port } : { socketPath: socket }
  const post = token !== undefined
  return new Promise((resolve, reject) => {
    const call = request(
      {
        ...at,
        path: basePath + path,
        method: post ? 'POST' : 'GET',
        headers: {
          host: 'localhost',
          ...(post && { authorization: `Bearer ${token}`, 'content-type': 'application/json' }),
        },
        signal: AbortSignal.timeout(ASK_MS),
        agent: false,
      },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => (body += text))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
        response.on('error', reject)
      },
    )
    call.on('error', reject)
    call.end(post ? '{}' : undefined)
  })
}

const reachable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host)

/**
 * A fresh one-time link of the server that wrote itself down; undefined when it does not answer or is not ours. It has to
 * prove that it holds the token before the token is sent: anybody may listen on a port.
 */
export async function freshLinks(running: Running, token: string): Promise<string[] | undefined> {
  const nonce = randomBytes(16).toString('hex')
  try {
    const alive = await ask(running, `healthz?nonce=${nonce}`)
    const { proof } = z.object({ proof: z.string() }).parse(JSON.parse(alive.body))
    if (!sameSecret(proof, proofOf(token, nonce, placeOf(running)))) return undefined
    const { status, body } = await ask(running, 'api/login-link', token)
    return status === 200 ? z.object({ links: z.array(z.string()) }).parse(JSON.parse(body)).links : undefined
  } catch {
    return undefined // not listening, or not speaking our protocol
  }
}
