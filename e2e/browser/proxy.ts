import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** The line between a browser and its server, for tests that cut it. */
export interface Line {
  port: number
  /** Ends every connection and refuses new ones. */
  cut(): void
  mend(): Promise<void>
}

export async function layLine(target: number): Promise<Line> {
  const open = new Set<Socket>()
  const lay = async (port: number) => {
    const server = createServer((near) => {
      const far = connect(target, '127.0.0.1')
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        open.add(from)
        from.pipe(to)
        from.on('close', () => {
          open.delete(from)
          to.destroy()
        })
        from.on('error', () => {
          // The close event that follows ends the other half.
        })
      }
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  let server = await lay(0)
  const { port } = server.address() as AddressInfo
  return {
    port,
    cut() {
      server.close()
      for (const socket of open) socket.destroy()
    },
    async mend() {
      server = await lay(port)
    },
  }
}
