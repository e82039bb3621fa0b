import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import { SessionStore } from './store.ts'

export const startWriter = (root: string, id = 's1') =>
  spawn(process.execPath, [join(import.meta.dirname, 'kill-writer.fixture.ts'), root, id], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Starts a writer, kills it right after the given number of acknowledged barriers, and returns the last acknowledged `seq`. */
async function killedWriter(root: string, acknowledgements: number): Promise<number> {
  const child = startWriter(root)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  let last = -1
  let count = 0
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line)
    if (++count === acknowledgements) child.kill('SIGKILL')
  }
  await ended
  return last
}

/** Kills one writer after the other on the same session and checks after each that nothing acknowledged is lost. */
export async function killMany(root: string, kills: number): Promise<void> {
  for (let round = 1; round <= kills; round++) {
    const acknowledged = await killedWriter(root, 1 + ((round * 7) % 12))
    expect(acknowledged).toBeGreaterThan(0)
    const store = new SessionStore(root)
    const { log } = await store.openWrite('s1')
    expect(log.lastSeq).toBeGreaterThanOrEqual(acknowledged)
    expect(log.events.every((event, index) => event.seq === index)).toBe(true)
    await store.close()
  }
}
