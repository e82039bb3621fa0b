import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOf } from '../../server/wire/messages.ts'
import type { Client } from '../client.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'
import { startServer, type Served } from '../process.ts'

const KEY = 'sk-ant-agent-must-not-see-0123456789'
const linux = process.platform === 'linux'
const confines = linux && existsSync('/usr/bin/bwrap')

let node = process.execPath
let root: string
let data: string
let work: string
let server: Served
let mock: Mock
let client: Client
let workspace: string
beforeAll(async () => {
  // Not below /tmp: a sandbox has its own.
  root = realpathSync(mkdtempSync('/var/tmp/core-web-agent-'))
  data = join(root, 'data')
  work = join(root, 'work')
  for (const folder of [data, work]) mkdirSync(folder)
  // A sandbox has a /tmp of its own: a checkout below the machine's is not seen there.
  if (node.startsWith('/tmp/')) copyFileSync(node, (node = join(root, 'node')), constants.COPYFILE_FICLONE)
  mock = await startMock()
  server = await startServer({ dataDir: data, env: { HOME: root, ANTHROPIC_API_KEY: KEY } })
  client = await server.connect()
  workspace = (await client.command('workspace.add', { path: work, confirmed: true })).workspace.id
  await client.command('provider.save', {
    id: 'mock',
    label: 'Mock',
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    key: 'none',
  })
})
afterAll(async () => {
  await client.close()
  await server.stop()
  await mock.close()
  rmSync(root, { recursive: true, force: true })
})

interface Called {
  text: string
  session: string
}

/** What the model reads after it ran a command in a session's shell. */
async function runs(command: string, preset: 'minimal' | 'standard', permission: string): Promise<Called> {
  const lane = `lane-${Math.random().toString(36).slice(2)}`
  mock.script(lane, [{ toolCalls: [{ name: 'bash', arguments: JSON.stringify({ command }) }] }, { text: 'done' }])
  const { session } = await client.command('session.create', {
    workspace,
    preset,
    permission,
    selection: { provider: 'mock', model: 'mock-model' },
    prompt: `[[lane:${lane}]] go`,
  })
  await client.attach(session)
  const result = await client.event(session, 'tool/result')
  await client.turnEnd(session, 1)
  const read = result.data.message.content.flatMap((block) => (block.type === 'tool-result' ? [textOf(block)] : []))
  return { text: read.join('\n'), session }
}

/** Names each process whose environment shows the key, and prints that of the parent. Nothing is cut: there should be no line. */
const ENVIRONS =
  "grep -alE 'sk-ant-agent|ANTHROPIC_API' /proc/[0-9]*/environ 2>/dev/null; tr '\\0' '\\n' </proc/$PPID/environ; echo; env; echo end"

describe.runIf(linux)('the environment of the host', () => {
  const ways = confines ? ['full', 'workspace-write', 'read-only'] : ['full']
  for (const preset of ['minimal', 'standard'] as const)
    test.each(ways)(`HS-10 in ${preset} under %s no process shows a key of the host`, async (permission) => {
      const { text } = await runs(ENVIRONS, preset, permission)
      expect(text).toContain('end')
      expect(text).not.toContain(KEY)
      expect(text).not.toContain('ANTHROPIC_API_KEY')
      expect(text).not.toContain('/environ')
      // The shell's own environment is there, so that the command did read something.
      expect(text).toContain('PATH=')
    })
})

/** Node is there wherever the server runs; curl may not be. */
const ask = (script: string) => {
  const file = join(work, 'ask.mjs')
  writeFileSync(file, script)
  return `${node} ${file}`
}

describe.runIf(confines)('an agent that turns to its own host', () => {
  const attempts = () => {
    const token = join(data, 'token')
    const inside = `import { readFileSync, readdirSync } from 'node:fs'
const say = (name, value) => console.log(name + ': ' + value)
const base = ${JSON.stringify(server.base)}
const body = (path, init) => fetch(base + path, init).then(async (r) => r.status + ' ' + (await r.text()).slice(0, 60), (e) => 'failed ' + e.message)
let token = ''
try { token = readFileSync(${JSON.stringify(token)}, 'utf8').trim() } catch (error) { say('token', error.code) }
if (token) say('token', token)
try { say('data', readdirSync(${JSON.stringify(data)}).join() || 'empty') } catch (error) { say('data', error.code) }
say('state', await body('api/state'))
say('state with an empty token', await body('api/state', { headers: { authorization: 'Bearer ' + token } }))
say('link', await body('api/login-link', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }))
say('login', await body('api/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token: 'guess' }) }))
const socket = new WebSocket(base.replace('http', 'ws') + 'api/socket', ['core-web', 'bearer.' + (token || 'x')])
await new Promise((done) => {
  socket.onopen = () => {
    say('socket', 'open')
    socket.send(JSON.stringify({ t: 'command', id: '1', name: 'permission.select', args: { session: process.argv[2], preset: 'full' } }))
  }
  socket.onmessage = (event) => say('socket says', String(event.data).slice(0, 200))
  socket.onerror = () => { say('socket', 'refused'); done() }
  setTimeout(done, 3000)
})
console.log('end')`
    return ask(inside)
  }

  for (const preset of ['minimal', 'standard'] as const)
    test.each(['workspace-write', 'read-only'])(`HS-14 in ${preset} under %s it gets nothing`, async (permission) => {
      const { text, session } = await runs(attempts(), preset, permission)
      expect(text).toContain('end')
      expect(text).not.toContain(server.token)
      expect(text).toMatch(/token: (ENOENT|EACCES)/)
      expect(text).toMatch(/data: (empty|ENOENT|EACCES)/)
      expect(text).toMatch(/state: 401/)
      expect(text).toMatch(/state with an empty token: 401/)
      expect(text).toMatch(/link: 401/)
      expect(text).toMatch(/login: (401|429)/)
      expect(text).toMatch(/socket: refused/)
      expect(text).not.toContain('socket says')
      // What holds for it is what was chosen for it.
      const view = await client.attach(session)
      if (view.t !== 'snapshot') throw new Error(view.t)
      expect(view.state.policy?.preset).toBe(permission)
    })

  test('HS-14 nor by the file of a session, of settings, or of the process', async () => {
    const paths = ['sessions', 'user.cordis.yml', 'credentials.json', 'server.json', 'index.db', 'state.db']
    const commands = paths.flatMap((path) => [
      `cat ${join(data, path)} 2>&1 | head -c 200`,
      `echo '- {id: policy, config: {default: full}}' > ${join(data, path)} 2>&1`,
      `ln -s ${join(data, path)} ./link-${path}; cat ./link-${path} 2>&1 | head -c 200`,
    ])
    const before = readFileSync(join(data, 'server.json'), 'utf8')
    const pid = server.child.pid
    const { text } = await runs(
      `${commands.join('\n')}\ncat /proc/${pid}/root${data}/token; cat /proc/${pid}/environ; kill -9 ${pid}; ls ${data}; echo end`,
      'minimal',
      'workspace-write',
    )
    expect(text).toContain('end')
    expect(text).not.toContain(server.token)
    expect(text).not.toContain('"pid"')
    expect(readFileSync(join(data, 'server.json'), 'utf8')).toBe(before)
    expect(server.child.exitCode).toBeNull()
    expect(
      existsSync(join(data, 'user.cordis.yml')) && readFileSync(join(data, 'user.cordis.yml'), 'utf8'),
    ).not.toContain('default: full')
  })
})
