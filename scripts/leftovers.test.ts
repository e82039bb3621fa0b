import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ground } from './leftovers.ts'

describe.skipIf(process.platform !== 'linux')('what a run leaves behind is told and taken away', () => {
  test('nothing', async () => {
    const { env, leftovers } = ground()
    mkdirSync(join(env.TMPDIR, 'scratch-of-a-test'))
    expect(await leftovers(0)).toEqual([])
    expect([existsSync(env.TMPDIR), existsSync(env.XDG_RUNTIME_DIR)]).toEqual([false, false])
  })

  test.each(['environment', 'working folder', 'arguments'])('a process that shows it by its %s', async (how) => {
    const { env, leftovers } = ground()
    const args = ['-c', 'echo up; read line', ...(how === 'arguments' ? [join(env.TMPDIR, 'x')] : [])]
    const child = spawn('sh', args, {
      env: { PATH: process.env['PATH'], ...(how === 'environment' && env) },
      cwd: how === 'working folder' ? env.TMPDIR : '/',
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    const found = await leftovers(0)
    expect(found).toEqual([expect.stringMatching(new RegExp(`^process ${child.pid}: `))])
    expect((await ended)[1]).toBe('SIGKILL')
  })

  test('folders of the product, and of its shells', async () => {
    const { env, leftovers } = ground()
    mkdirSync(join(env.TMPDIR, 'core-web-output-abc'))
    mkdirSync(join(env.XDG_RUNTIME_DIR, 'core-web', 's-1-abc'), { recursive: true })
    expect(await leftovers(0)).toEqual(['folder core-web-output-abc', 'folder control folders/s-1-abc'])
  })
})
