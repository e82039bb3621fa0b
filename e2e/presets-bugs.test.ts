import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { plugin } from '../server/preset/kernel.ts'
import { scopeOf } from '../server/preset/scope-tag.ts'
import { documentOf, persona, Presets } from './presets.fixture.ts'
import { ROOT, type TestHostOptions } from './host.ts'

async function start(documents: Record<string, string> = {}, options: TestHostOptions = {}): Promise<Presets> {
  const lab = await Presets.start(documents, options)
  onTestFinished(() => lab.host.remove())
  return lab
}

const mine = (text: string): string => documentOf('mine', text)
const BROKEN = documentOf('broken', '- {id: bad, name: no-such-row}')
const LEGACY = mine('- {id: persona, name: persona, config: {text: Legacy words.}}')
const UNKNOWN = mine('- {id: persona, name: persona, config: {prefix: x, colour: red}}')

test('B01 a retired key works and is told; any other unknown key is an error that names key, row, file and line', async () => {
  const lab = await start({ mine: LEGACY })
  expect(lab.row('mine')).toMatchObject({
    prompt: expect.stringContaining('Legacy words.'),
    notices: ['row persona: the key text is retired, write prefix'],
  })
  await lab.client.command('preset.default', { preset: 'mine' })
  const session = await lab.session()
  await lab.turn(session, 1)
  await lab.remove('mine')
  await lab.write('mine', UNKNOWN)
  expect(lab.row('mine')?.broken).toMatch(/persona \(persona\): .*"colour".*\(mine\.yml:6\)/s)
  // The default is broken: that is said, and the others serve.
  const wanted = { workspace: lab.workspace }
  await expect(lab.client.command('session.create', wanted)).rejects.toMatchObject({
    code: 'agent-preset/invalid',
    details: { agentPreset: 'mine', reason: expect.stringContaining('colour') },
  })
  expect(await lab.session('standard')).toBeDefined()
})

test('B02 every refused command about presets carries a code, a sentence and its details', async () => {
  const lab = await start({ broken: BROKEN })
  const { client, workspace } = lab
  const session = await lab.session('standard')
  const codes = await Promise.all(
    [
      client.command('session.create', { workspace, preset: 'absent' }),
      client.command('session.create', { workspace, preset: 'broken' }),
      client.command('preset.select', { session, preset: 'absent' }),
      client.command('preset.select', { session, preset: 'broken' }),
      client.command('preset.default', { preset: 'absent' }),
      client.command('preset.save', { preset: 'standard', text: 'x', base: '' }),
      client.command('preset.copy', { from: 'standard', id: 'minimal' }),
      client.command('preset.import', { text: 'a: [' }),
      client.command('preset.delete', { preset: 'standard' }),
      client.command('preset.describe', { preset: 'standard', name: 'x' }),
    ].map((work) =>
      (work as Promise<unknown>).then(
        () => 'done',
        (error: { code: string; message: string }) => {
          expect(error.message.length).toBeGreaterThan(error.code.length + 20)
          return error.code
        },
      ),
    ),
  )
  expect(codes).toEqual([
    'agent-preset/not-found',
    'agent-preset/invalid',
    'agent-preset/not-found',
    'agent-preset/invalid',
    'agent-preset/not-found',
    'agent-preset/not-own',
    'agent-preset/exists',
    'agent-preset/invalid',
    'agent-preset/not-own',
    'agent-preset/not-own',
  ])
})

test('B04 one broken preset of three: the others, New session and the choice of a workspace go on', async () => {
  const lab = await start({ broken: BROKEN, mine: mine(persona('Fine.')) })
  expect([lab.row('broken')?.broken, lab.row('mine')?.broken]).toEqual([
    expect.stringContaining('no-such-row'),
    undefined,
  ])
  for (const preset of [undefined, 'minimal', 'mine']) await lab.turn(await lab.session(preset), 1)
  const { workspace } = await lab.client.command('workspace.add', { path: lab.host.dataDir, confirmed: true })
  expect(workspace.problem).toBeUndefined()
})

test('B05 a blank and a used session of a preset that is gone keep nobody from a new one', async () => {
  const lab = await start({ mine: mine(persona('Fine.')) })
  await lab.client.command('preset.default', { preset: 'mine' })
  const [blank, used] = [await lab.session(), await lab.session()]
  await lab.turn(used, 1)
  await lab.remove('mine')
  await expect(lab.client.command('session.create', { workspace: lab.workspace })).rejects.toMatchObject({
    code: 'agent-preset/not-found',
    details: { agentPreset: 'mine', available: ['standard', 'minimal'] },
  })
  await lab.client.command('preset.default', { preset: null })
  await lab.turn(await lab.session(), 1)
  // Both are live and keep their generation until they end.
  expect((await lab.client.attach(blank)).composition?.preset).toBe('mine')
  expect((await lab.client.attach(used)).events.some(({ type }) => type === 'assistant/message')).toBe(true)
})

test('B07 a saved default that nobody declares is an error at the choice of a preset, and resets nothing else', async () => {
  const lab = await start(
    {},
    { patches: [{ id: 'agent-presets', config: { default: 'standard', selectedDefault: 'nowhere' } }] as never },
  )
  await expect(lab.client.command('session.create', { workspace: lab.workspace })).rejects.toMatchObject({
    code: 'agent-preset/not-found',
    details: { agentPreset: 'nowhere', available: ['standard', 'minimal'] },
  })
  const state = (await (await lab.host.get('/api/state')).json()) as {
    workspaces: { id: string }[]
    presets: { isDefault: boolean }[]
  }
  expect(state.workspaces.map(({ id }) => id)).toContain(lab.workspace)
  expect(state.presets.map(({ isDefault }) => isDefault)).toEqual([false, false])
  await lab.turn(await lab.session('standard'), 1)
})

test('B09 one data folder for server, commands and presets, and it is shown', async () => {
  const lab = await start({ mine: mine(persona('Fine.')) })
  const [hello] = lab.client.frames
  expect(hello).toMatchObject({ t: 'hello', host: { dataDir: lab.host.dataDir } })
  await lab.turn(await lab.session('mine'), 1)
  expect(readdirSync(lab.host.dataDir)).toEqual(expect.arrayContaining(['presets', 'sessions', 'state.db']))
  const home = join(lab.host.dataDir, '..')
  expect(existsSync(join(home, '.local'))).toBe(false)
  await lab.client.close()
  await lab.host.close()
  // The headless command finds the same own preset in the same folder, whatever HOME says.
  const command = ['run', '--data', lab.host.dataDir, '--preset', 'mine', '--model', 'demo/scripted', 'go']
  const env = { PATH: process.env['PATH'], HOME: home }
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'server/start.mjs'), ...command], {
    cwd: lab.host.work,
    env,
  })
  expect(stdout).not.toBe('')
  expect(existsSync(join(home, '.local'))).toBe(false)
})

test('B10 a plugin that fails when a prompt is put together is found at activation, and blamed', async () => {
  const failing = plugin({
    name: 'old-plugin',
    inject: ['systemPrompt'],
    apply(ctx) {
      const text = () => {
        throw new TypeError('session.events is not a function')
      }
      ctx.effect(() =>
        ctx.systemPrompt.section(scopeOf(ctx) ?? null, { name: 'old:words', order: 5, owner: 'old', text }),
      )
    },
  })
  const lab = await start(
    { mine: mine(`${persona('Fine.')}\n- {id: old, name: old-plugin}`) },
    { catalog: { 'old-plugin': { plane: 'preset', load: async () => failing } } },
  )
  expect(lab.row('mine')?.broken).toBe(
    'its prompt and tools cannot be put together: section old:words of old: session.events is not a function',
  )
  const session = await lab.session('standard')
  await expect(lab.client.command('preset.select', { session, preset: 'mine' })).rejects.toMatchObject({
    code: 'agent-preset/invalid',
  })
  await lab.turn(session, 1)
})
