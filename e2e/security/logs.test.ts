import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeLine } from '../../server/log/jsonl/line.ts'
import { exportSession, type CommandWorld } from '../../server/headless/commands.ts'
import { parseFlags } from '../../server/flags.ts'
import { ask, post, upgrade } from '../ask.ts'
import { ROOT } from '../host.ts'
import { startServer, type Served } from '../process.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'

const KEY = 'gsk_live/plain+key=0123456789'
const ENV_KEY = 'another-key-0123456789'

let folder: string
let data: string
let server: Served
let mock: Mock
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-logs-')))
  data = join(folder, 'data')
  mkdirSync(data)
  // Loaded before the server: it says what a careless library might say, on the ways that a process has.
  writeFileSync(
    join(folder, 'careless.mjs'),
    `process.on('SIGUSR2', () => {
  const text = process.careless
  process.emitWarning('warned of ' + text)
  console.error(new Error('failed with ' + text))
  process.stderr.write(Buffer.from('bytes ' + text + '\\n'))
  Promise.reject(new Error('rejected ' + text))
})
process.careless = 'Authorization: Bearer ${'b'.repeat(40)} ${KEY} ${ENV_KEY} sk-proj-${'c'.repeat(30)} ?token=query-secret'\n`,
  )
  server = await startServer({
    dataDir: data,
    preload: join(folder, 'careless.mjs'),
    env: { HOME: folder, LAB_KEY: ENV_KEY },
  })
  mock = await startMock()
})
afterAll(async () => {
  await server.kill()
  await mock.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Every file below a folder, as text of one byte per character. */
function* texts(root: string): Generator<[string, string]> {
  for (const name of readdirSync(root, { recursive: true }) as string[]) {
    const path = join(root, name)
    if (statSync(path).isFile()) yield [name, readFileSync(path, 'latin1')]
  }
}

test('HS-09 nothing that the process writes shows a token, a cookie or a key, whoever wrote it', async () => {
  const client = await server.connect()
  await client.command('credential.set', { provider: 'anthropic', key: KEY })
  await client.close()
  const login = await post(server.base, '/api/login', { token: server.token })
  const cookie = login.headers['set-cookie']![0]!.split(';')[0]!
  for (const path of ['/api/nothing', `/api/state?token=${server.token}`, '/api/sessions/%00/events'])
    await ask(server.base, path, { headers: { cookie, authorization: `Bearer ${server.token}` } })
  await upgrade(`${server.base.replace('http', 'ws')}api/socket?token=${server.token}`, { cookie })
  server.child.kill('SIGUSR2')
  await expect.poll(() => server.output()).toContain('rejected')
  const output = server.output()
  for (const what of ['warned of', 'failed with', 'bytes', 'rejected', '[redacted]']) expect(output).toContain(what)
  for (const secret of [
    KEY,
    ENV_KEY,
    server.token,
    cookie.split('=')[1]!,
    'b'.repeat(40),
    'c'.repeat(30),
    'query-secret',
  ])
    expect(output, secret).not.toContain(secret)
})

test('HS-09 in the data folder the token and the keys stand in their own files alone, which others cannot read', () => {
  for (const [name, text] of texts(data)) {
    if (text.includes(server.token)) expect(name).toBe('token')
    if (text.includes(KEY)) expect(name).toBe('credentials.json')
    expect(text).not.toContain(ENV_KEY)
  }
  for (const name of ['token', 'credentials.json', 'server.json'])
    expect([name, statSync(join(data, name)).mode & 0o077]).toEqual([name, 0])
})

test('HS-09 an export, by page and by command line, holds no known key and no secret shape, and its lines still check', async () => {
  const client = await server.connect()
  const work = join(folder, 'work')
  mkdirSync(work)
  const { workspace } = await client.command('workspace.add', { path: work, confirmed: true })
  await client.command('provider.save', {
    id: 'mock',
    label: 'Mock',
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    key: 'none',
  })
  mock.script('main', [{ text: `the key is ${KEY}, and Bearer ${'d'.repeat(40)}` }])
  const { session } = await client.command('session.create', {
    workspace: workspace.id,
    preset: 'minimal',
    selection: { provider: 'mock', model: 'mock-model' },
    prompt: `[[lane:main]] my key is ${KEY} and "quoted"`,
  })
  await client.attach(session)
  await client.turnEnd(session, 1)
  await client.close()
  const page = await ask(server.base, `/api/sessions/${session}/export`, {
    headers: { authorization: `Bearer ${server.token}` },
  })
  expect(page.headers['content-disposition']).toBe(`attachment; filename="${session}.jsonl"`)
  const chunks: Buffer[] = []
  const world: CommandWorld = {
    rootDir: ROOT,
    env: {},
    cwd: folder,
    out: (text) => void chunks.push(Buffer.from(text)),
    err: () => {},
  }
  const parsed = parseFlags(['export', session, '--data', data], {}, folder)
  if (parsed.kind !== 'ok') throw new Error(parsed.message)
  const file = join(folder, 'export.jsonl')
  expect(await exportSession([session, '--format', 'messages', '--out', file], parsed.flags, world)).toBe(0)
  for (const text of [page.body.toString(), readFileSync(file, 'utf8')]) {
    expect(text).toContain('my key is [redacted]')
    expect(text).toContain('Bearer [redacted]')
    for (const secret of [KEY, 'd'.repeat(40)]) expect(text).not.toContain(secret)
    for (const line of text.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow()
  }
  expect(await exportSession([session], parsed.flags, world)).toBe(0)
  const { inflateRawSync } = await import('node:zlib')
  const zip = Buffer.concat(chunks)
  // The first entry of the archive: its name and sizes stand in the local header.
  const [packed, name, extra] = [zip.readUInt32LE(18), zip.readUInt16LE(26), zip.readUInt16LE(28)]
  const log = inflateRawSync(zip.subarray(30 + name + extra, 30 + name + extra + packed))
  expect(log.includes(KEY)).toBe(false)
  const lines = log.toString().trim().split('\n')
  expect(lines.map((line) => decodeLine(Buffer.from(line)) === undefined)).not.toContain(true)
})
