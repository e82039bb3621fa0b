import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ROOT } from '../host.ts'
import { figure, median, ROUNDS, type Group } from './figure.ts'
import { rssOf, scratch } from './rig.ts'

/** Milliseconds after the first answer until memory is read: the index worker has caught up by then. */
const IDLE_MS = 1500

interface Start {
  ms: number
  megabytes: number
}

/** From spawning the process to the last byte of its first HTTP answer, then its memory at rest. */
async function start(args: readonly string[], home: string): Promise<Start> {
  const started = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { HOME: home, PATH: process.env['PATH'], NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  let said = ''
  for await (const data of child.stdout) {
    said += String(data)
    if (/http\S+\s/.test(said)) break
  }
  const url = /(http[^\s#]+)/.exec(said)?.[1]
  if (!url) throw new Error(`the process did not say where it listens: ${said}`)
  await (await fetch(url)).text()
  const ms = performance.now() - started
  await pause(IDLE_MS)
  const megabytes = rssOf(child.pid!)
  child.kill('SIGTERM')
  await gone
  return { ms, megabytes }
}

export const group: Group = async () => {
  const page = join(ROOT, 'dist/web/index.html')
  const served = existsSync(page) ? page : join(ROOT, 'package.json')
  if (readFileSync(served).length === 0) throw new Error(`${served} is empty`)
  const servers: Start[] = []
  const floors: Start[] = []
  const { root, remove } = scratch()
  const host = (n: number) => [
    'server/start.mjs',
    'serve',
    '--port',
    '0',
    '--no-open',
    '--data',
    join(root, `data-${n}`),
  ]
  // The first start fills the compile cache; it is told apart because a person sees it once per installation.
  const first = await start(host(-1), root)
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(await start([join(import.meta.dirname, 'floor.mjs'), served], root))
    servers.push(await start(host(round), root))
  }
  remove()
  const floorIs = 'bare Node serving one file with Fastify'
  return [
    figure({
      name: 'cold start to first answer',
      unit: 'ms',
      value: median(servers.map(({ ms }) => ms)),
      floor: median(floors.map(({ ms }) => ms)),
      floorIs,
      judged: 'ratio',
      target: 2.5,
      note: `the start before the first round took ${Math.round(first.ms)} ms`,
    }),
    figure({
      name: 'idle memory (RSS)',
      unit: 'MB',
      value: median(servers.map(({ megabytes }) => megabytes)),
      floor: median(floors.map(({ megabytes }) => megabytes)),
      floorIs,
      judged: 'over',
      target: 40,
    }),
  ]
}
