import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createTls } from 'node:https'
import { connect, createServer as createTcp, type AddressInfo, type Server, type Socket } from 'node:net'

export interface Listening {
  url: string
  port: number
  close(): Promise<void>
}

/** Made for these tests, for localhost and 127.0.0.1 until 2126; no authority vouches for it. */
const CERT = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUJFuPrntJQk24iyvhx3Vra3V8gTMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTIwMTA2MTEzMloYDzIxMjYxMTA3
MDYxMTMyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARwPtuaC+qx/GIFdYwAfIcgzGEL8kT2hchiOscKxyu4itWwbRRNtOO4
OHHYxMU05ouHZBpqjxiGQN70o0sy3gY9o28wbTAdBgNVHQ4EFgQU/KLYHBHRX6tC
rEw2x8jpDACwboEwHwYDVR0jBBgwFoAU/KLYHBHRX6tCrEw2x8jpDACwboEwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIhAPn0U3AUK6fZUzqPUYgziL6/T9+ds0D2yCgaXHZWd/vGAh83
j92dH1JcJsXpjur8OFo+uWAu6bUgsFUB2MYwMhZN
-----END CERTIFICATE-----`
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggnLRqU6jAosaG51z
o7ltmCXf2oJYJ/hEy7ffX8NfBJehRANCAARwPtuaC+qx/GIFdYwAfIcgzGEL8kT2
hchiOscKxyu4itWwbRRNtOO4OHHYxMU05ouHZBpqjxiGQN70o0sy3gY9
-----END PRIVATE KEY-----`

const open = new Set<Listening>()

/** Ends every server that a test started. */
export const closeServers = async (): Promise<void> =>
  void (await Promise.all([...open].map((server) => server.close())))

export const httpServer = (listener: RequestListener): Promise<Listening> => listen(createHttp(listener), 'http')

/** With a certificate that nobody vouches for. */
export const selfSigned = (listener: RequestListener): Promise<Listening> =>
  listen(createTls({ cert: CERT, key: KEY }, listener), 'https')

/** Takes connections and does with them what `onSocket` does. */
export const tcpServer = (onSocket: (socket: Socket) => void): Promise<Listening> => listen(createTcp(onSocket), 'http')

/** An address at which nothing listens. */
export async function deadAddress(): Promise<Listening> {
  const server = await tcpServer((socket) => socket.destroy())
  await server.close()
  return server
}

export interface ConnectProxy extends Listening {
  /** `host:port` of every tunnel that was asked for, with what the client said of itself. */
  tunnels: { to: string; authorization: string | undefined }[]
}

/** A proxy that leads every tunnel to `target`, or answers each with a status of its own. */
export async function connectProxy(target: { port: number } | { status: number }): Promise<ConnectProxy> {
  const tunnels: ConnectProxy['tunnels'] = []
  const server = createHttp((_request, response) => response.writeHead(501).end())
  server.on('connect', (request, socket) => {
    tunnels.push({ to: request.url!, authorization: request.headers['proxy-authorization'] })
    socket.on('error', () => undefined)
    if ('status' in target) return void socket.end(`HTTP/1.1 ${target.status} No\r\n\r\n`)
    const upstream = connect(target.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
  })
  return { ...(await listen(server, 'http')), tunnels }
}

async function listen(server: Server, scheme: string): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const listening: Listening = {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        open.delete(listening)
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  open.add(listening)
  return listening
}
