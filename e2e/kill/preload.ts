import fs from 'node:fs/promises'
import { createHook } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded before the server by the kill tests: counts the points a run passes after it was armed, and ends the process with
 * SIGKILL at the chosen one. Points are file operations (before each, and after it before its caller goes on), or awaits.
 */
export type Arm = { arm: { at: number; on: 'disk' | 'await' } }
export type Armed = 'armed' | { passed: number; names: string[] }

let armed: Arm['arm'] | undefined
let passed = 0
let names: string[] = []

function pass(name: string): void {
  if (!armed) return
  if (armed.on === 'disk') names.push(name)
  if (passed++ !== armed.at) return
  writeSync(2, `killed at ${armed.on} point ${armed.at}: ${name}\n`)
  process.kill(process.pid, 'SIGKILL')
}

type Method = (...args: unknown[]) => unknown

/** Only operations that answer with a promise are points; an iterator such as `watch` is left alone. */
function wrap(owner: Record<string, unknown>, name: string): void {
  const original = owner[name] as Method
  owner[name] = function (this: unknown, ...args: unknown[]) {
    if (armed?.on !== 'disk') return original.apply(this, args)
    pass(`before ${name}`)
    const result = original.apply(this, args)
    if (!(result instanceof Promise)) return result
    return result.finally(() => pass(`after ${name}`))
  }
}

async function install(): Promise<void> {
  const handle = await fs.open(import.meta.filename)
  const prototype = Object.getPrototypeOf(handle) as Record<string, unknown>
  for (const name of ['write', 'datasync', 'sync', 'truncate', 'stat']) wrap(prototype, name)
  await handle.close()
  for (const name of ['open', 'mkdir', 'link', 'rename', 'unlink', 'writeFile']) wrap(fs, name)
  syncBuiltinESMExports()
  const awaits = createHook({
    init(_id, type) {
      if (type === 'PROMISE' && armed?.on === 'await') pass('an await')
    },
  })
  process.on('message', (message: Arm | 'report') => {
    if (message === 'report') {
      process.send!({ passed, names } satisfies Armed)
      armed = undefined
      awaits.disable()
      return
    }
    passed = 0
    names = []
    armed = message.arm
    if (armed.on === 'await') awaits.enable()
    process.send!('armed' satisfies Armed)
  })
  // The channel alone must not keep a server alive that was told to stop.
  process.channel?.unref()
}

if (isMainThread) await install()
