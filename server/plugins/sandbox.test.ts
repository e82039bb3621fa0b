import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { expect, onTestFinished, test } from 'vitest'
import { testFlags } from '../boot-testing.ts'
import { boot } from '../boot.ts'
import { unconfined } from './sandbox.fixture.ts'
import type { JsonObject } from '../wire/json.ts'
import type { AgentFacts, ToolContext, ToolOutcome } from '../tool/tool.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The shipped host outside of `/tmp`, with one session of the given permission preset. */
async function hostWith(permission?: string, env: Record<string, string> = {}) {
  const folder = realpathSync(mkdtempSync('/var/tmp/core-web-host-'))
  const dataDir = join(folder, 'data')
  const base = { HOME: folder, PATH: process.env['PATH'], ...env }
  const host = await boot({ rootDir: ROOT, dataDir, flags: testFlags(dataDir), env: base })
  const closing: (() => void | Promise<void>)[] = []
  onTestFinished(async () => {
    for (const effect of closing) await effect()
    await host.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { id } = await host.service('workspaces')!.add(folder, true)
  const sessions = host.service('sessions')!
  const { session } = await sessions.create({
    workspace: id,
    preset: 'minimal',
    ...(permission !== undefined && { permission }),
  })
  const choose = (preset: string) => sessions.permissions.select(session, { preset })
  return { host, folder, dataDir, session, choose, closing, sandbox: host.service('sandbox')! }
}

type Made = Awaited<ReturnType<typeof hostWith>>

async function toolOf({ host, session, folder, closing }: Made, preset: string, name: string) {
  const agent: AgentFacts = { id: session, scope: {}, cwd: folder, onClose: (effect) => void closing.push(effect) }
  await host.service('agentPresets')!.mount(agent.scope, preset)
  const tool = host
    .service('tools')!
    .view(agent.scope)
    .find(({ spec }) => spec.name === name)!
  const { signal } = new AbortController()
  return (args: JsonObject): Promise<ToolOutcome> => {
    const context: ToolContext = { agent, callId: 'c', turn: 1, step: 1, cwd: folder, signal, output() {}, log() {} }
    return tool.run(args, context)
  }
}

async function bash(made: Made, preset: string) {
  const run = await toolOf(made, preset, 'bash')
  return (command: string) => run({ command })
}

const textOf = ({ content }: ToolOutcome) => content.map((block) => (block.type === 'text' ? block.text : '')).join('')

const without = await unconfined()
const note = without === undefined ? '' : ` (nothing confines here: ${without})`

test.skipIf(without !== undefined).each(['minimal', 'standard'])(
  `bash of %s is held to its session's policy, asked anew for what starts next${note}`,
  async (preset) => {
    const made = await hostWith()
    const run = await bash(made, preset)
    expect(textOf(await run(`: >/var/tmp/core-web-try; echo a >/tmp/a; echo b >b; ls -A ${made.dataDir}`))).toMatch(
      /^[^\n]*core-web-try: Read-only file system$/,
    )
    expect(readFileSync(join(made.dataDir, 'tmp', made.session, 'a'), 'utf8')).toBe('a\n')
    await made.choose('read-only')
    const changed = textOf(await run('echo c >c'))
    expect(changed).toMatch(/c: Read-only file system/)
    expect(changed.includes('[new shell: mode;')).toBe(preset === 'minimal')
    await made.choose('full')
    expect(textOf(await run(`ls ${made.dataDir} | grep -c state.db$`))).toMatch(/^(\[new shell: mode.*\n)?1$/)
    await made.host.service('sessions')!.remove(made.session)
    await expect.poll(() => existsSync(join(made.dataDir, 'tmp', made.session))).toBe(false)
  },
)

test.each(['minimal', 'standard'])(
  'bash of %s refuses where the image is the boundary and a mode confines',
  async (preset) => {
    const made = await hostWith('workspace-write', { CORE_WEB_BOUNDARY: 'container' })
    expect((await made.sandbox.ready()).enforcement).toBe('container')
    const run = await bash(made, preset)
    const outcome = await run('echo x >ran')
    expect(outcome).toMatchObject({ isError: true, error: { code: 'SANDBOX_UNAVAILABLE' } })
    expect(existsSync(join(made.folder, 'ran'))).toBe(false)
    await made.choose('full')
    expect(textOf(await run('echo bare'))).toBe('bare')
  },
)

test('an agent that no policy is kept for runs as before', async () => {
  const made = await hostWith()
  const run = await bash({ ...made, session: 'another' }, 'minimal')
  expect(textOf(await run(`ls ${made.dataDir} | grep -c state.db$`))).toBe('1')
})

test.skipIf(without !== undefined)(
  `a search runs under the profile of its session, and finds nothing where that shows nothing${note}`,
  async () => {
    const made = await hostWith('workspace-write')
    writeFileSync(join(made.dataDir, 'hidden'), 'a word\n')
    writeFileSync(join(made.folder, 'plain'), 'a word\n')
    const grep = await toolOf(made, 'standard', 'grep')
    const glob = await toolOf(made, 'standard', 'glob')
    const inData = textOf(await grep({ pattern: 'a word', path: made.dataDir }))
    const named = textOf(await glob({ pattern: 'hidden', path: made.dataDir }))
    // In a checkout below /tmp the search program is not seen inside: then the gate alone holds, which is not asked here.
    const held = !rgPath.startsWith('/tmp/')
    expect([inData, named.includes('/hidden')]).toEqual(held ? ['No matches.', false] : ['data/hidden:1:a word', true])
    expect(textOf(await grep({ pattern: 'a word', path: made.folder }))).toContain('plain:1:a word')
    await made.choose('full')
    expect(textOf(await grep({ pattern: 'a word', path: made.dataDir }))).toBe('data/hidden:1:a word')
  },
)

test('a search still runs where nothing can confine, behind the gate alone', async () => {
  const made = await hostWith('workspace-write', { CORE_WEB_BOUNDARY: 'container' })
  writeFileSync(join(made.folder, 'plain'), 'a word\n')
  const grep = await toolOf(made, 'standard', 'grep')
  expect(textOf(await grep({ pattern: 'a word' }))).toBe('plain:1:a word')
})
