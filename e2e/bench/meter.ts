import { WebSocket } from 'ws'
import type { ClientFrame } from '../../server/wire/protocol.ts'
import { addressOf } from '../client.ts'

interface Wait {
  wanted: (text: string) => boolean
  resolve: () => void
}

/** A tab that counts what arrives and keeps nothing, so that its own work does not show in the figures. */
export class Meter {
  frames = 0
  bytes = 0
  readonly #socket: WebSocket
  readonly #waits = new Set<Wait>()

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => {
      this.frames++
      this.bytes += data.length
      if (this.#waits.size === 0) return
      const text = data.toString('latin1')
      for (const wait of this.#waits) if (wait.wanted(text)) this.#end(wait)
    })
  }

  static async open(url: string): Promise<Meter> {
    const { token, base } = addressOf(url)
    const socket = new WebSocket(`${base.replace('http', 'ws')}api/socket`, ['core-web', `bearer.${token}`])
    const meter = new Meter(socket)
    await meter.next((text) => text.includes('"t":"hello"'))
    return meter
  }

  send(frame: ClientFrame): void {
    this.#socket.send(JSON.stringify(frame))
  }

  /** Resolves in the tick in which such a frame arrives. */
  next(wanted: (text: string) => boolean): Promise<void> {
    return new Promise((resolve) => this.#waits.add({ wanted, resolve }))
  }

  reset(): void {
    this.frames = this.bytes = 0
  }

  close(): void {
    this.#socket.close()
  }

  #end(wait: Wait): void {
    this.#waits.delete(wait)
    wait.resolve()
  }
}
