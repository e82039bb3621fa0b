import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { LIMITS } from '../../server/http/limits.ts'
import { ask } from '../ask.ts'
import { addressOf, type Client } from '../client.ts'
import { startHost, type TestHost } from '../host.ts'
import { Puppet } from '../puppet.ts'

let host: TestHost
let client: Client
beforeEach(async () => {
  host = await startHost()
  client = await host.connect()
})
afterEach(() => host.remove())

const bearer = () => ({ authorization: `Bearer ${host.token}` })

function socket(): WebSocket {
  const { base, token } = addressOf(host.url)
  return new WebSocket(`${base.replace('http', 'ws')}api/socket`, ['core-web', `bearer.${token}`])
}

async function session(): Promise<string> {
  const workspace = await host.workspace(client)
  const puppet = new Puppet()
  host.host.service('llm')!.add(puppet.route)
  const args = { workspace, preset: 'minimal', selection: { ...Puppet.selection, alsoDefault: false } }
  return (await client.command('session.create', args)).session
}

describe('HTTP', () => {
  test('HS-11 a body beyond 1 MB is refused with a typed error and not read to its end', async () => {
    const body = JSON.stringify({ token: 'x'.repeat(1024 * 1024) })
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
    const answer = await ask(host.base, '/api/login', { method: 'POST', headers, body })
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.body.toString())).toMatchObject({ error: { code: 'gateway/bad-request' } })
  })

  test('HS-11 headers beyond 16 KB and lines that are no HTTP end their connection alone', async () => {
    const { hostname, port } = new URL(host.base)
    for (const text of [
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
      'nonsense\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      '\u0016\u0003\u0001\u0000',
    ]) {
      const raw = connect(Number(port), hostname)
      let answer = ''
      raw.on('data', (data: Buffer) => (answer += data.toString()))
      const closed = new Promise((resolve) => raw.on('close', resolve))
      raw.on('error', () => {
        // Cut in the middle of our sending; the close event follows.
      })
      raw.write(text)
      await closed
      expect(answer).toMatch(/^(HTTP\/1\.1 4(00|31) |$)/)
    }
    expect((await ask(host.base, '/healthz')).status).toBe(200)
  })

  test('the longest session id is a path, one more character is a typed refusal', async () => {
    const of = async (id: string) => (await ask(host.base, `/api/sessions/${id}/events`, { headers: bearer() })).status
    expect(await of('a'.repeat(128))).toBe(404)
    expect(await of('a'.repeat(129))).toBe(400)
    expect([400, 404, 414]).toContain(await of('a'.repeat(5_000)))
  })
})

describe('the socket', () => {
  test('HS-11 prompts that wait in one session are limited; those that wait are kept', async () => {
    const id = await session()
    const send = (text: string) => client.command('session.prompt', { session: id, text })
    await send('runs')
    await Promise.all(Array.from({ length: LIMITS.queue }, (_, index) => send(`waits ${index}`)))
    await expect(send('one too many')).rejects.toMatchObject({ code: 'gateway/too-many-requests' })
    const view = await client.attach(id)
    if (view.t !== 'snapshot') throw new Error(view.t)
    expect(view.state.inbox['next-turn'].length).toBeGreaterThanOrEqual(LIMITS.queue)
  })

  test('HS-11 commands of one tab that wait for answers are limited, each with its own answer', async () => {
    const folder = { path: host.work }
    const ids = Array.from({ length: LIMITS.pending * 2 }, (_, index) => `c${index}`)
    // In one write, so that they arrive before the first is answered.
    for (const id of ids) client.send({ t: 'command', id, name: 'workspace.browse', args: folder })
    const answers = new Map<string, string>()
    await client.until((frame) => {
      if (frame.t === 'ack') answers.set(frame.id, 'ack')
      if (frame.t === 'error') answers.set(frame.id, frame.error.code)
      return answers.size === ids.length
    })
    expect(new Set(answers.values())).toEqual(new Set(['ack', 'gateway/too-many-requests']))
    await client.command('workspace.browse', folder)
  })

  test('HS-11 a tab follows so many sessions and no more; one that it leaves makes room', async () => {
    const id = await session()
    const attached = async (name: string) => {
      client.send({ t: 'attach', session: name })
      const answer = await client.until(
        (frame) => (frame.t === 'attach-failed' || frame.t === 'snapshot') && frame.session === name,
      )
      return answer.t === 'attach-failed' ? answer.error.code : answer.t
    }
    // What could not be followed takes no room.
    for (let index = 0; index < LIMITS.attached + 5; index++)
      expect(await attached(`gone-${index}`)).toBe('session/not-found')
    expect(await attached(id)).toBe('snapshot')
  })

  test('HS-11 tabs are limited with a code that says to come back, and a closed one makes room', async () => {
    const open: WebSocket[] = []
    const closes = (tab: WebSocket) =>
      new Promise<[number, string]>((resolve) =>
        tab.once('close', (code, reason: Buffer) => resolve([code, reason.toString()])),
      )
    const opens = (tab: WebSocket) =>
      new Promise((resolve, reject) => tab.once('message', resolve).once('error', reject))
    // The client of this file is the first.
    for (let index = 1; index < LIMITS.tabs; index++) open.push(socket())
    await Promise.all(open.map(opens))
    const [code, reason] = await closes(socket())
    expect([code, reason]).toEqual([1013, expect.stringContaining('tabs are open already')])
    const last = open.pop()!
    const gone = closes(last)
    last.close()
    await gone
    await expect
      .poll(async () => {
        const tab = socket()
        open.push(tab)
        return Promise.race([opens(tab).then(() => 'open'), closes(tab).then(() => 'refused')])
      })
      .toBe('open')
    for (const tab of open) tab.terminate()
  })

  test('HS-12 whoever sends and does not read is not listened to until it does', async () => {
    const tab = socket()
    await new Promise((resolve) => tab.once('message', resolve))
    const raw = (tab as unknown as { _socket: { pause(): void; resume(): void } })._socket
    raw.pause()
    // Each bad frame is answered by a longer error; unread, they would heap up in the server.
    const frame = JSON.stringify({
      t: 'attach',
      session: 'x',
      ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key-${index}`, 1])),
    })
    const heapBefore = process.memoryUsage().rss
    for (let index = 0; index < 20_000; index++) tab.send(frame)
    await client.command('workspace.browse', { path: host.work })
    await client.command('workspace.browse', { path: host.work })
    expect(tab.bufferedAmount).toBeGreaterThan(1_000_000)
    expect(process.memoryUsage().rss - heapBefore).toBeLessThan(400 * 1024 * 1024)
    tab.terminate()
  })

  test('a paced command is refused beyond its pace', async () => {
    const set = () => client.command('credential.set', { provider: 'anthropic', key: 'sk-test-key' })
    for (let index = 0; index < 60; index++) await set()
    await expect(set()).rejects.toMatchObject({ code: 'gateway/too-many-requests' })
  })
})
