import { expect, test, vi } from 'vitest'
import type { Sessions } from '../session/sessions.ts'
import type { Providers } from '../settings/providers.ts'
import type { SessionSettings } from '../settings/session-settings.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import { Commands, type CommandsOptions } from './commands.ts'

function setup() {
  const clock = { now: 0 }
  const prompt = vi.fn<Sessions['prompt']>(async (_session, text) => ({ message: text }))
  const browse = vi.fn<Workspaces['browse']>(async () => ({ path: '/', folders: [] }))
  const announce = vi.fn<() => void>()
  const saved = { default: { saved: true as const } }
  const commands = new Commands({
    sessions: { prompt, live: () => undefined, selectModel: async () => saved } as unknown as Sessions,
    workspaces: { browse } as unknown as Workspaces,
    providers: { announce, picked: () => {} } as unknown as Providers,
    sessionSettings: {} as SessionSettings,
    policies: {} as CommandsOptions['policies'],
    asks: {} as CommandsOptions['asks'],
    shells: {} as CommandsOptions['shells'],
    library: {} as CommandsOptions['library'],
    presets: {} as CommandsOptions['presets'],
    global: () => ({}) as never,
    now: () => clock.now,
  })
  const send = (id: string, text = 'x') => commands.run(id, 'session.prompt', { session: 's', text })
  return { clock, prompt, browse, announce, commands, send }
}

test('one id acts once, at once and later; a refused one may try again', async () => {
  const { prompt, send } = setup()
  await Promise.all([send('a'), send('a')])
  await send('a')
  expect(prompt).toHaveBeenCalledTimes(1)
  prompt.mockRejectedValueOnce(new Error('disk'))
  await expect(send('b')).rejects.toThrow('disk')
  await expect(send('b')).resolves.toEqual({ message: 'x' })
})

test('an id that stands for another command is refused, however large both are', async () => {
  const { send } = setup()
  await send('a', 'y'.repeat(300_000))
  await expect(send('a', `${'y'.repeat(299_999)}z`)).rejects.toMatchObject({ code: 'gateway/bad-request' })
})

test('what is remembered is bounded by number and by time', async () => {
  const { clock, prompt, send } = setup()
  await send('old')
  for (let index = 0; index < 1_000; index++) await send(`n${index}`)
  await send('old')
  expect(prompt).toHaveBeenCalledTimes(1_002)
  await send('n999')
  expect(prompt).toHaveBeenCalledTimes(1_002)
  clock.now += 60 * 60_000
  await send('n999')
  expect(prompt).toHaveBeenCalledTimes(1_003)
})

test('looking into folders is asked anew each time', async () => {
  const { browse, commands } = setup()
  for (let round = 0; round < 2; round++) await commands.run('same', 'workspace.browse', { path: '/' })
  expect(browse).toHaveBeenCalledTimes(2)
})

test('L-12 a pick that became the default is told to every tab', async () => {
  const { announce, commands } = setup()
  await commands.run('a', 'model.select', { session: 's', provider: 'p', model: 'm' })
  expect(announce).toHaveBeenCalledTimes(1)
})
