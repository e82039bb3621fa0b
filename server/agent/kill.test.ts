import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SessionStore } from '../log/store.ts'
import { ofType, ScriptedModel, texts, tool, world } from '../turn/turn.fixture.ts'
import { Agent } from './agent.ts'
import { POINTS } from './kill-turn.fixture.ts'

const program = join(import.meta.dirname, 'kill-turn.fixture.ts')

test.each(POINTS)(
  '2.3 B30 killed at %s after its acknowledgement, a prompt is neither lost nor told twice, and the session goes on',
  { timeout: 60_000 },
  async (point) => {
    const root = await mkdtemp(join(tmpdir(), 'kill-turn-'))
    try {
      const child = spawn(process.execPath, [program, root, point], { stdio: 'inherit' })
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
      expect(signal).toBe('SIGKILL')

      const store = new SessionStore(root)
      const { log } = await store.openWrite('s1')
      const model = new ScriptedModel({ text: 'ok' })
      const host = world(model, { id: () => crypto.randomUUID() })
      host.tools.add(null, tool('t'))
      const agent = new Agent(host, { id: 's1', log, options: { provider: 'p', model: 'm', cwd: root } })
      const told = () => texts(ofType(log, 'user/message').map(({ data }) => data.message))
      const queued = () => texts(agent.inbox.waiting('next-turn').map((row) => row.message))
      expect([...told(), ...queued()]).toEqual(['first', 'second'])

      await agent.followup('third')
      await agent.whenIdle()
      expect(told()).toEqual(['first', 'second', 'third'])
      expect(queued()).toEqual([])
      expect(ofType(log, 'turn/end').at(-1)!.data.reason).toEqual({ kind: 'completed' })
      await log.close()
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  },
)
