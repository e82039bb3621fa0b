import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { killMany, startWriter } from './kill.fixture.ts'
import { temporary } from './samples.ts'
import { SessionStore } from './store.ts'

let root: string
let remove: () => void
beforeEach(() => {
  ;({ root, remove } = temporary())
})
afterEach(() => remove())

test(
  'SL-13 SL-14 kill after kill: nothing acknowledged is lost, each next process takes over, the history stays one sequence',
  { timeout: 60_000 },
  async () => {
    await killMany(root, 6)
    expect(readdirSync(join(root, 'liveness'))).toEqual([])
  },
)

test(
  'SL-15 a session of a living process is refused by name; holder tells who it is; after its death it is free',
  { timeout: 60_000 },
  async () => {
    const child = startWriter(root)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const store = new SessionStore(root)
    const { pid } = child
    await expect(store.openWrite('s1')).rejects.toMatchObject({ code: 'session/writer-held', details: { pid } })
    expect(await store.holder('s1')).toMatchObject({ pid })
    expect((await store.openRead('s1')).log.events.length).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await ended
    expect(await store.holder('s1')).toBeNull()
    const { log } = await store.openWrite('s1')
    await log.close()
    await store.close()
  },
)
