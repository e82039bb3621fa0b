import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LockTimeout, withLock } from './file-lock.ts'

const lockPath = () => join(mkdtempSync(join(tmpdir(), 'lock-')), 'settings.lock')
const MODULE = join(import.meta.dirname, 'file-lock.ts')

/** Another process that holds the lock until it is killed. */
async function holder(path: string) {
  const code = `
    import { withLock } from ${JSON.stringify(MODULE)}
    globalThis.timer = setInterval(() => {}, 1000)
    const held = new Promise((resolve) => (globalThis.letGo = resolve))
    await withLock(${JSON.stringify(path)}, () => { console.log('held'); return held })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test('one at a time, in this process too, and a failure gives the lock up', async () => {
  const path = lockPath()
  let inside = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++inside)
    await new Promise((resolve) => setImmediate(resolve))
    inside--
  }
  await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await Promise.all(Array.from({ length: 8 }, () => withLock(path, work)))
  expect(most).toBe(1)
})

test('while another process holds it the event loop runs, and the wait ends with a typed error', async () => {
  const path = lockPath()
  const child = await holder(path)
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  await expect(withLock(path, async () => {}, 150)).rejects.toBeInstanceOf(LockTimeout)
  clearInterval(timer)
  child.kill('SIGKILL')
  expect(turns).toBeGreaterThan(3)
})

test('a process that is killed leaves no lock behind', async () => {
  const path = lockPath()
  const child = await holder(path)
  const mine = withLock(path, async () => 'mine')
  child.kill('SIGKILL')
  expect(await mine).toBe('mine')
})
