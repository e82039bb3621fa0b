import { createServer, request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Proxy {
  /** Origin under which the proxied server is reached. */
  origin: string
  close(): Promise<void>
}

/**
 * A reverse proxy as people put in front: passes everything on to `target` (an origin), the Host of the visitor included,
 * and tells the scheme of the visitor in `x-forwarded-proto` when one is given.
 */
export async function startProxy(target: string, forwardedProto?: string): Promise<Proxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Duplex>()
  const headersOf = (incoming: IncomingMessage) => ({
    ...incoming.headers,
    ...(forwardedProto !== undefined && { 'x-forwarded-proto': forwardedProto }),
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
