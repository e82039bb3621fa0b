import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { COMMANDS } from '../../server/wire/commands.ts'
import type { Client } from '../client.ts'
import { startServer, type Served } from '../process.ts'
import { fuzz } from './fuzz.ts'

let root: string
let server: Served
let client: Client
let session: string
beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-frames-')))
  const work = join(root, 'work')
  mkdirSync(work)
  server = await startServer({ dataDir: join(root, 'data'), env: { HOME: root } })
  client = await server.connect()
  const { workspace } = await client.command('workspace.add', { path: work, confirmed: true })
  session = (await client.command('session.create', { workspace: workspace.id, preset: 'minimal' })).session
})
afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true })
})

/** Commands that a fuzzer may send with arguments of the right shape: they touch this data folder and nothing else. */
const HARMLESS = Object.keys(COMMANDS).filter((name) =>
  /^(session\.(?!create|fork$)|queue\.|permission\.|rule\.|approval\.|shell\.|file\.|preset\.(select|check)|model\.select)/.test(
    name,
  ),
)

function frames(): fc.Arbitrary<string | Buffer> {
  const id = fc.constantFrom(session, 'none', '', '../../etc', 'a'.repeat(200), '\0', '__proto__')
  const word = fc.oneof(
    fc.constantFrom('t', 'id', 'name', 'args', 'session', 'after', '__proto__', 'constructor', 'toString'),
    fc.string(),
  )
  const json = fc.jsonValue({ maxDepth: 6 })
  const named = (names: string[], args: fc.Arbitrary<unknown>) =>
    fc.record({
      t: fc.constant('command'),
      id: fc.string({ minLength: 1, maxLength: 64 }),
      name: fc.constantFrom(...names),
      args,
    })
  const likely = fc.record(
    {
      session: id,
      message: fc.string(),
      text: fc.string(),
      title: fc.string(),
      id: fc.string(),
      digest: fc.string(),
      preset: fc.constantFrom('minimal', 'full', 'nope', ''),
      provider: fc.string(),
      model: fc.string(),
      pinned: fc.boolean(),
      archived: fc.boolean(),
      limit: fc.oneof(fc.double(), fc.constant(null)),
      outcome: fc.constantFrom('allowed-once', 'allowed-session', 'rejected', 'nope'),
    },
    { requiredKeys: [] },
  )
  const shaped = fc.oneof(
    named(Object.keys(COMMANDS), json),
    named([...HARMLESS, 'nope', '__proto__', 'constructor'], likely),
    fc.record({
      t: fc.constantFrom('attach', 'detach'),
      session: id,
      after: fc.oneof(fc.integer(), fc.double(), fc.constant(undefined)),
    }),
    fc.record({ t: fc.constantFrom('pong', 'ping', 'ack', 'hello', 'snapshot') }),
    fc.dictionary(word, json),
  )
  const text = shaped.map((value) => JSON.stringify(value))
  return fc.oneof(
    text,
    // Broken off, or with one place changed.
    fc.tuple(text, fc.nat(), fc.string({ maxLength: 3 })).map(([whole, at, put]) => {
      const cut = at % (whole.length + 1)
      return whole.slice(0, cut) + put + whole.slice(cut + put.length)
    }),
    fc.tuple(text, fc.nat()).map(([whole, at]) => whole.slice(0, at % (whole.length + 1))),
    json.map((value) => JSON.stringify(value)),
    fc.string({ unit: 'binary' }),
    fc.nat({ max: 20_000 }).map((depth) => '['.repeat(depth)),
    fc
      .nat({ max: 5_000 })
      .map(
        (depth) =>
          `{"t":"command","id":"d","name":"preset.check","args":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`,
      ),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  )
}

async function open(): Promise<WebSocket> {
  const tab = new WebSocket(`${server.base.replace('http', 'ws')}api/socket`, ['core-web', `bearer.${server.token}`])
  tab.on('error', () => {
    // The server may close a socket for what it was sent; the close event follows.
  })
  await new Promise((resolve) => tab.once('message', resolve))
  return tab
}

const closed = (tab: WebSocket) =>
  tab.readyState === WebSocket.CLOSED
    ? Promise.resolve()
    : new Promise<void>((resolve) => tab.once('close', () => resolve()))

const descriptors = () => readdirSync(`/proc/${server.child.pid}/fd`).length
/** Kilobytes. */
const memory = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))![1])
const alive = () => client.command('workspace.browse', { path: root })

test('HS-12 10,000 fuzzed frames: no crash, no leak, and every tab beside goes on', async (context) => {
  const { seed, numRuns } = fuzz(10_000)
  await context.annotate(`seed ${seed}, ${numRuns} frames`)
  const all = fc.sample(frames(), { seed, numRuns })
  let answers = 0
  const spend = async (part: (string | Buffer)[]) => {
    const tab = await open()
    tab.on('message', () => answers++)
    for (const frame of part) tab.send(frame)
    await alive()
    expect(tab.readyState).toBe(WebSocket.OPEN)
    // Goes out behind the frames, so that they are read before it.
    tab.close()
    await closed(tab)
  }
  const size = 100
  // What is made once (compiled schemas, pools) is made before the count begins.
  for (let at = 0; at < all.length / 5; at += size) await spend(all.slice(at, at + size))
  const [fds, rss] = [descriptors(), memory()]
  for (let at = Math.floor(all.length / 5 / size) * size; at < all.length; at += size)
    await spend(all.slice(at, at + size))
  await expect.poll(descriptors).toBeLessThanOrEqual(fds + 2)
  expect(memory() - rss).toBeLessThan(150 * 1024)
  // All but a pong and a detach are answered.
  await context.annotate(`${answers} answers`)
  expect(answers).toBeGreaterThan(all.length / 2)
  expect(server.child.exitCode).toBeNull()
  expect(server.output()).not.toMatch(/uncaught|unhandled/)
  await alive()
  expect(['snapshot', 'attached']).toContain((await client.attach(session)).t)
})

/** One frame of RFC 6455 with any bits, masked as a client must or not. */
const rawFrame = fc
  .record({
    first: fc.integer({ min: 0, max: 255 }),
    masked: fc.boolean(),
    length: fc.oneof(fc.nat({ max: 125 }), fc.constantFrom(126, 127)),
    said: fc.oneof(fc.nat({ max: 70_000 }), fc.constantFrom(2 ** 31, 2 ** 32 - 1, 4 * 1024 * 1024 + 1)),
    payload: fc.uint8Array({ maxLength: 130 }),
  })
  .map(({ first, masked, length, said, payload }) => {
    const extended = length === 126 ? Buffer.alloc(2) : length === 127 ? Buffer.alloc(8) : Buffer.alloc(0)
    if (extended.length === 2) extended.writeUInt16BE(said & 0xffff)
    if (extended.length === 8) extended.writeUInt32BE(said, 4)
    return Buffer.concat([
      Buffer.from([first, (masked ? 128 : 0) | length]),
      extended,
      ...(masked ? [Buffer.from([1, 2, 3, 4])] : []),
      payload,
    ])
  })

test('HS-12 malformed frames on the wire end their own connection alone', async (context) => {
  const { seed, numRuns } = fuzz(1_000)
  await context.annotate(`seed ${seed}, ${numRuns} streams`)
  const { hostname, port, host } = new URL(server.base)
  const hello = [
    'GET /api/socket HTTP/1.1',
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Sec-WebSocket-Protocol: core-web, bearer.${server.token}`,
    '',
    '',
  ].join('\r\n')
  const fds = descriptors()
  for (const stream of fc.sample(fc.array(rawFrame, { minLength: 1, maxLength: 5 }), { seed, numRuns })) {
    const raw = connect(Number(port), hostname)
    const gone = new Promise((resolve) => raw.on('close', resolve))
    raw.on('error', () => {
      // Ended by the server in the middle of our sending.
    })
    raw.write(hello)
    await new Promise((resolve) => raw.once('data', resolve))
    raw.write(Buffer.concat(stream))
    raw.end()
    await gone
  }
  await alive()
  await expect.poll(descriptors).toBeLessThanOrEqual(fds + 2)
  expect(server.output()).not.toMatch(/uncaught|unhandled/)
})
