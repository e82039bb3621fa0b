import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { unconfined } from '../../server/plugins/sandbox.fixture.ts'
import { startHost, type TestHost } from '../host.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'
import type { Client } from '../client.ts'

let root: string
let host: TestHost
let mock: Mock
let client: Client
let lanes = 0

beforeAll(async () => {
  // Not below /tmp: a sandbox has its own.
  root = realpathSync(mkdtempSync('/var/tmp/core-web-escalation-'))
  const work = join(root, 'work')
  mkdirSync(work)
  mock = await startMock()
  host = await startHost({ dataDir: join(root, 'data'), work, env: { HOME: root } })
  client = await host.connect()
  const provider = { id: 'mock', label: 'Mock', wire: 'chat', baseURL: `${mock.url}/v1`, key: 'none' } as const
  await client.command('provider.save', provider)
})
afterAll(async () => {
  await client.close()
  await host.remove()
  await mock.close()
  rmSync(root, { recursive: true, force: true })
})

/** One call that asks to leave, and what the model read once a person had answered. */
async function asks(command: string, answer: 'once' | 'session' | 'reject'): Promise<string> {
  const lane = `lane-${++lanes}`
  const args = { command, sandbox_permissions: 'require_escalated', justification: 'The file lies outside.' }
  mock.script(lane, [{ toolCalls: [{ name: 'bash', arguments: JSON.stringify(args) }] }, { text: 'done' }])
  const { session } = await client.command('session.create', {
    workspace: await host.workspace(client),
    preset: 'standard',
    permission: 'workspace-write',
    selection: { provider: 'mock', model: 'mock-model' },
    prompt: `[[lane:${lane}]] go`,
  })
  await client.attach(session)
  const { data: asked } = await client.event(session, 'approval/asked')
  expect(asked).toMatchObject({ kind: 'escalate', toolName: 'bash', reason: expect.stringContaining('lies outside.') })
  await client.command('approval.answer', { session, approval: asked.id, digest: asked.digest, answer })
  await client.turnEnd(session, 1)
  const { data } = await client.event(session, 'tool/result')
  return JSON.stringify(data.message.content)
}

const without = await unconfined()
const note = without === undefined ? '' : ` (nothing confines here: ${without})`

test.skipIf(without !== undefined)(
  `a command leaves the sandbox once a person lets it, and says so${note}`,
  async () => {
    const inside = join(root, 'declined')
    expect(await asks(`: >${inside}`, 'reject')).toContain('declined')
    expect(existsSync(inside)).toBe(false)
    const outside = join(root, 'allowed')
    const said = await asks(`: >${outside}; echo done`, 'once')
    expect(said).toContain(`[ran outside of the sandbox, this once, in ${host.work}]\\ndone`)
    expect(existsSync(outside)).toBe(true)
  },
)
