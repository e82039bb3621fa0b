import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ask, post } from '../ask.ts'
import { ROOT } from '../host.ts'
import { runServer, startServer, type Served } from '../process.ts'

const START = join(ROOT, 'server/start.mjs')
const linux = process.platform === 'linux'

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-start-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function started(dataDir: string, more: Partial<Parameters<typeof startServer>[0]> = {}): Promise<Served> {
  const server = await startServer({ dataDir, ...more })
  onTestFinished(() => server.kill())
  return server
}

const login = (dataDir: string, env: NodeJS.ProcessEnv = {}) => {
  const done = { env: { PATH: process.env['PATH'], HOME: dataDir, ...env }, encoding: 'utf8' as const }
  return execFileSync(process.execPath, [START, 'login', '--data', dataDir], done).trim()
}

const redeem = ({ base }: Served, link: string) =>
  post(base, '/api/login', { code: new URLSearchParams(new URL(link).hash.slice(1)).get('code') })

test('HS-05 the printed link logs in once and carries no token; a second use says what to do', async () => {
  const data = folder()
  const server = await started(data)
  expect(server.output()).not.toContain(server.token)
  const first = await redeem(server, server.link)
  const cookie = first.headers['set-cookie']![0]!.split(';')[0]!
  expect((await ask(server.base, '/api/state', { headers: { cookie } })).status).toBe(200)
  const second = await redeem(server, server.link)
  expect(second.status).toBe(401)
  expect(second.headers['set-cookie']).toBeUndefined()
  expect(second.body.toString()).toContain('npm run login')
})

test('HS-05 core-web login prints a fresh link of the running server, and only to who holds its token', async () => {
  const data = folder()
  const server = await started(data)
  const link = login(data)
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{24}$/)
  expect(link).not.toBe(server.link)
  expect((await redeem(server, link)).status).toBe(200)
  expect((await post(server.base, '/api/login-link', {})).status).toBe(401)
  await server.stop()
  expect(() => login(data)).toThrow(/No server of yours runs on/)
})

test('HS-05 the cookie outlives a restart of the server (B73)', async () => {
  const data = folder()
  const before = await started(data)
  const cookie = (await redeem(before, before.link)).headers['set-cookie']![0]!.split(';')[0]!
  await before.stop()
  const after = await started(data, { args: ['--port', new URL(before.base).port] })
  expect((await ask(after.base, '/api/state', { headers: { cookie } })).status).toBe(200)
})

test('HS-15 B78 started again at the same place, it hands out the page of the server that runs', async () => {
  const data = folder()
  const server = await started(data)
  const { port } = new URL(server.base)
  const again = await runServer({ dataDir: data, args: ['--port', port] })
  expect(again.code).toBe(0)
  const link = /running already \(pid (\d+)\): (\S+)/.exec(again.output)!
  expect(Number(link[1])).toBe(server.child.pid)
  expect((await redeem(server, link[2]!)).status).toBe(200)
  const other = await runServer({ dataDir: folder(), args: ['--port', port] })
  expect(other.code).toBe(1)
  if (linux) expect(other.output).toContain(`(pid ${server.child.pid})`)
})

test('HS-15 whoever sits on the port of a server that is gone is not shown the token', async () => {
  const data = folder()
  const server = await started(data)
  const { port } = new URL(server.base)
  const heard: string[] = []
  await server.kill()
  const impostor = createServer((incoming, outgoing) => {
    heard.push(JSON.stringify(incoming.headers) + incoming.url)
    outgoing.end(JSON.stringify({ ok: true, proof: 'a'.repeat(64), links: ['http://evil.example/'] }))
  }).listen(Number(port), '127.0.0.1')
  await once(impostor, 'listening')
  onTestFinished(() => void impostor.close())
  // The note that the killed server left names a living process: this one.
  const note = join(data, 'server.json')
  const text = readFileSync(note, 'utf8').replace(/"pid":\d+/, `"pid":${process.pid}`)
  writeFileSync(note, text)
  const { code, output } = await runServer({ dataDir: data, args: ['--port', port] })
  expect(code).toBe(1)
  expect(output).not.toContain('evil.example')
  expect(heard.join()).toContain('/healthz?nonce=')
  expect(heard.join()).not.toContain(server.token)
  expect(heard.join().toLowerCase()).not.toContain('bearer')
})

const SECRETS = {
  ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdefghij',
  MY_DSN: "postgres://u:p@h/db\nE0\n$(touch /tmp/never) 'quoted' ${HOME}",
  CORE_WEB_TOKEN: 'f'.repeat(64),
  LARGE: 'ä'.repeat(20_000),
}

test.runIf(linux)(
  'HS-10 keys and token given by environment stand in /proc/<pid>/environ of no process of ours',
  async () => {
    const data = folder()
    writeFileSync(
      join(data, 'user.cordis.yml'),
      '- id: providers\n  config:\n    routes:\n      anthropic:\n        key: env:ANTHROPIC_API_KEY\n',
    )
    const server = await started(data, { env: SECRETS })
    const environ = readFileSync(`/proc/${server.child.pid}/environ`, 'utf8')
    expect(environ).toContain('PATH=')
    for (const [name, value] of Object.entries(SECRETS)) {
      expect(environ).not.toContain(name)
      expect(environ).not.toContain(value.slice(0, 20))
    }
    expect(readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8')).not.toContain('sk-ant')
    // It has them all the same: the token lets in, and the provider has its key.
    expect(existsSync(join(data, 'token'))).toBe(false)
    const headers = { authorization: `Bearer ${SECRETS.CORE_WEB_TOKEN}` }
    const state = await ask(server.base, '/api/state', { headers })
    const { models } = JSON.parse(state.body.toString()) as { models: { providers: { id: string }[] } }
    expect(models.providers.find(({ id }) => id === 'anthropic')).toMatchObject({ key: 'environment' })
    expect(state.body.toString()).not.toContain(SECRETS.ANTHROPIC_API_KEY)
    expect(await server.stop()).toBe(0)
  },
)

test.runIf(linux)('HS-10 a value of any bytes arrives as it was given', async () => {
  const environment = join(ROOT, 'server/handover.mjs')
  const script = `import { takeSecrets, environment } from ${JSON.stringify(environment)}
takeSecrets()
process.stdout.write(JSON.stringify([process.pid, process.argv.slice(2), environment(), Object.keys(process.env)]))`
  const file = join(folder(), 'child.mjs')
  writeFileSync(file, script)
  const given = { ...SECRETS, EMPTY: '', ODD: '\u0001\t"\\`$$;|&\r\n', npm_config_x: 'dropped' }
  const child = spawn(process.execPath, [file, 'an argument', '$(id)'], {
    env: { PATH: process.env['PATH'], ...given },
  })
  let out = ''
  child.stdout.on('data', (data: Buffer) => (out += data.toString()))
  await once(child, 'close')
  const [pid, args, seen, open] = JSON.parse(out) as [number, string[], Record<string, string>, string[]]
  expect(pid).toBe(child.pid)
  expect(args).toEqual(['an argument', '$(id)'])
  expect(seen).toMatchObject({ ...SECRETS, EMPTY: '', ODD: given.ODD })
  expect(seen).not.toHaveProperty('npm_config_x')
  expect(open.filter((name) => name in given)).toEqual([])
})

test('HS-10 without anything to hide the process starts once', () => {
  const env = { PATH: process.env['PATH'], HOME: '/', LANG: 'C' }
  const script = `import { takeSecrets } from ${JSON.stringify(join(ROOT, 'server/handover.mjs'))}
process.execve = () => { throw new Error('replaced') }
takeSecrets()
process.stdout.write(String(process.env.CORE_WEB_HANDOVER))`
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' })).toBe(
    'undefined',
  )
})

test.runIf(linux)('HS-18 the replaced process takes signals itself and no parent of ours lingers', async () => {
  const server = await started(folder(), { env: { SOME_API_KEY: 'k'.repeat(30) } })
  const [, ppid] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))!
  expect(Number(ppid)).toBe(process.pid)
  expect(await server.stop()).toBe(0)
})

test.runIf(process.platform !== 'win32')(
  'HS-01 HS-17 on a unix socket only its owner gets in, also after a crash',
  async () => {
    const data = folder()
    const socket = join(data, 'sock')
    const over = (path: string, headers: Record<string, string> = {}) =>
      new Promise<number>((resolve, reject) => {
        const call = request({ socketPath: socket, path, headers: { host: 'localhost', ...headers } }, (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        })
        call.on('error', reject).end()
      })
    for (const round of ['first', 'after the crash']) {
      const child = spawn(process.execPath, [START, 'serve', '--socket', socket, '--no-open', '--data', data], {
        env: { PATH: process.env['PATH'], HOME: data },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const [line] = (await once(child.stdout, 'data')) as [Buffer]
      expect(line.toString(), round).toContain(`core-web is ready: ${socket}`)
      expect(statSync(socket).mode & 0o777).toBe(0o600)
      const token = readFileSync(join(data, 'token'), 'utf8').trim()
      expect(await over('/healthz')).toBe(200)
      expect(await over('/api/state')).toBe(401)
      expect(await over('/api/state', { authorization: `Bearer ${token}` })).toBe(200)
      expect(await over('/api/state', { authorization: `Bearer ${token}`, host: 'evil.example' })).toBe(421)
      child.kill('SIGKILL')
      await once(child, 'exit')
      expect(existsSync(socket)).toBe(true)
    }
  },
)
