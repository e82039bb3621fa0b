import { createServer, request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Proxy {
  /** Origin under which the proxied server is reached. */
  origin: string
  close(): Promise<void>
}

/** What a proxy says to the server behind it, beside what the visitor said. */
export interface ProxyHeaders {
  /** `inner`: the Host of the server itself, as proxies send by default; else the visitor's. */
  host?: 'inner'
  /** In `x-forwarded-proto`. */
  proto?: string
  /** In `x-forwarded-host`. */
  forwardedHost?: string
}

/**
 * A reverse proxy as people put in front: passes everything on to `target` (an origin), with the headers that it is told to set.
 */
export async function startProxy(target: string, told: ProxyHeaders = {}): Promise<Proxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Duplex>()
  const headersOf = (incoming: IncomingMessage) => ({
    ...incoming.headers,
    ...(told.host === 'inner' && { host: `${hostname}:${port}` }),
    ...(told.proto !== undefined && { 'x-forwarded-proto': told.proto }),
    ...(told.forwardedHost !== undefined && { 'x-forwarded-host': told.forwardedHost }),
  })
  const server = createServer((incoming, outgoing) => {
    const { method, url } = incoming
    const onward = request({ hostname, port, method, path: url, headers: headersOf(incoming) }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.on('upgrade', (incoming, socket, head) => {
    const lines = Object.entries(headersOf(incoming)).map(([name, value]) => `${name}: ${String(value)}`)
    const onward = connect(Number(port), hostname, () => {
      onward.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    for (const end of [onward, socket]) {
      sockets.add(end)
      end.on('close', () => sockets.delete(end))
    }
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        for (const socket of sockets) socket.destroy()
      }),
  }
}
