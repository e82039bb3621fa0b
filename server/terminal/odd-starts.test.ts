import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confinement, unconfined, type Confinement } from '../plugins/sandbox.fixture.ts'
import { shellEnvironment } from './environment.ts'
import { descendants } from './process.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

let work: string
let place: Confinement | undefined

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'odd-')))
})
afterEach(async () => {
  await place?.remove()
  place = undefined
  rmSync(work, { recursive: true, force: true })
})

const terminals = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return /\/(ptmx|pts\/\d+)$/.test(readlinkSync(`/proc/self/fd/${fd}`))
    } catch {
      return false // the descriptor of the listing itself
    }
  }).length

const missing = await unconfined()
const ways: [string, string | undefined, () => Partial<TerminalOptions>][] = [
  ['bare', undefined, () => ({})],
  [
    'in the sandbox',
    missing,
    () => {
      place = confinement()
      return { cwd: place.work, confine: place.confine }
    },
  ],
]

describe.each(ways)('%s', (_name, without, options) => {
  const note = without === undefined ? '' : ` (nothing confines here: ${without})`

  test.skipIf(without !== undefined)(
    `B47 whoever goes while a shell is being started leaves no terminal and no process${note}`,
    async () => {
      const given = { cwd: work, controlRoot: join(work, 'control'), ...options() }
      const before = [terminals(), descendants(process.pid).length]
      const warm = new Terminal(given)
      await warm.run('true')
      await warm.close()
      for (let delay = 0; delay < 20; delay++) {
        const shell = new Terminal(given)
        const abort = new AbortController()
        const call = shell.run('sleep 60', { signal: abort.signal })
        // From the very tick of the call to well after a shell is there.
        if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay * 2))
        if (delay % 2 === 0) abort.abort()
        await shell.close()
        expect((await call).end.kind).toBe('cancelled')
      }
      await expect.poll(() => [terminals(), descendants(process.pid).length]).toEqual(before)
      await expect.poll(() => readdirSync(join(work, 'control'))).toEqual([])
    },
  )
})

test.each([
  ['none at all', {}],
  ['a PATH of another spelling', { Path: 'C:\\bin', HOME: '/' }],
  ['an empty PATH', { PATH: '' }],
  ['only a package’s own tools', { PATH: '/app/node_modules/.bin:/x/node-gyp-bin' }],
])('B49 a host started with %s gives its shells a PATH that works', async (_name, env) => {
  const shell = new Terminal({ cwd: work, env: shellEnvironment(env) })
  const { output } = await shell.run('ls -d /; echo "$PATH"; env | grep -c "^Path="')
  expect(output).toMatch(/^\/\n\/usr\/local\/sbin:[^\n]*\/bin\n0\n$/)
  await shell.close()
})
