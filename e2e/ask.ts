import { request, type IncomingHttpHeaders, type RequestOptions } from 'node:http'
import { WebSocket } from 'ws'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A request to the letter: nothing is normalised, no header is added but Host. */
export function ask(base: string, path: string, options: RequestOptions & { body?: string } = {}): Promise<Answer> {
  const { hostname, port, host } = new URL(base)
  const { body, headers, ...rest } = options
  return new Promise((resolve, reject) => {
    const asked = request(
      { hostname, port, path, setHost: false, headers: { host, ...headers }, ...rest },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () =>
          resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(parts) }),
        )
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

export const codeOf = ({ body }: Answer) => (JSON.parse(body.toString()) as { error: { code: string } }).error.code
export const post = (base: string, path: string, json: unknown, headers: Record<string, string> = {}) =>
  ask(base, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(json),
  })

/** The status of an upgrade: 101 when the socket opens. */
export function upgrade(
  url: string,
  headers: Record<string, string>,
  protocols: string[] = ['core-web'],
): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, protocols, { headers })
    socket.on('open', () => {
      resolve(101)
      socket.terminate()
    })
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
      socket.terminate()
    })
    socket.on('error', reject)
  })
}
