import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { AddressInfo } from 'node:net'

// Each test starts whole processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const MAIN = join(import.meta.dirname, 'main.ts')

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'core-web-serve-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

function start(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: '/' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let out = ''
  let err = ''
  const ready = Promise.withResolvers<string>()
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    const [, url] = /ready: (\S+)\n/.exec(out) ?? []
    if (url) ready.resolve(url)
  })
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, out, err }))
  void ended.then(() => ready.reject(new Error(err)))
  ready.promise.catch(() => {
    // A test that waits for the end does not wait for this.
  })
  return { child, ready: ready.promise, ended }
}

test('the shipped host serves, answers without a key and ends on SIGTERM with code 0', async () => {
  const { child, ready, ended } = start('serve', '--port', '0', '--no-open', '--data', join(await folder(), 'data'))
  const url = new URL(await ready)
  const response = await fetch(new URL('/healthz', url))
  expect(await response.json()).toEqual({ ok: true })
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, err: '' })
})

test('an unknown flag is one sentence and code 2', async () => {
  const { code, err, out } = await start('--nonsense').ended
  expect([code, out, err.trim().split('\n').length]).toEqual([2, '', 1])
})

test('a port in use is one sentence that names the port and the remedy, and code 1', async () => {
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  onTestFinished(() => void blocker.close())
  const { port } = blocker.address() as AddressInfo
  const { code, err } = await start(
    'serve',
    '--port',
    String(port),
    '--no-open',
    '--data',
    join(await folder(), 'data'),
  ).ended
  expect(code).toBe(1)
  expect(err).toMatch(
    new RegExp(
      `^Port ${port} on 127\\.0\\.0\\.1 is already in use( by \\S.* \\(pid \\d+\\))?\\. Stop what uses it, or start with --port 0 to take a free one\\.\n$`,
    ),
  )
})

test('a required row that cannot start ends the process with the report and code 1', async () => {
  const root = await folder()
  await writeFile(join(root, 'patch.yml'), '- {id: agent-presets, config: {}}\n')
  const { code, err } = await start(
    'serve',
    '--port',
    '0',
    '--no-open',
    '--data',
    join(root, 'data'),
    '--patch',
    join(root, 'patch.yml'),
  ).ended
  expect(code).toBe(1)
  expect(err).toMatch(/required row agent-presets \(agent-presets\) could not start, \S+core-web\.cordis\.yml:\d+: /)
})

test('--dump-config prints the effective rows of every document and starts nothing', async () => {
  const { code, out, err } = await start('serve', '--dump-config', '--data', join(await folder(), 'data')).ended
  expect([code, err]).toEqual([0, ''])
  expect(out.split('---\n').map((text) => text.split('\n')[0])).toEqual([
    '# core-web.cordis.yml',
    '# presets/standard.yml',
    '# presets/minimal.yml',
  ])
  expect(out).toContain('prefix: You are a helpful software engineer assistant.')
})
