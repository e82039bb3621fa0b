import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confinement, unconfined, type Confinement } from '../plugins/sandbox.fixture.ts'
import { oneShotBash } from '../terminal/one-shot.ts'
import { Terminal, type TerminalOptions } from '../terminal/terminal.ts'
import { Terminals } from '../terminal/terminals.ts'
import { persistentBash } from '../terminal/tool.ts'
import type { Tool, ToolContext, ToolOutcome } from '../tool/tool.ts'
import type { JsonObject } from '../wire/json.ts'

let place: Confinement
let closing: (() => void | Promise<void>)[] = []
const terminals = new Terminals()

beforeEach(() => {
  place = confinement()
})
afterEach(async () => {
  for (const effect of closing.toReversed()) await effect()
  closing = []
  await terminals.closeAll()
  await place.remove()
})

function shell(options: Partial<TerminalOptions> = {}): Terminal {
  const made = new Terminal({ cwd: place.work, confine: place.confine, ...options })
  closing.push(() => made.close())
  return made
}

const scope = {}
function context(fields: Partial<ToolContext> = {}): ToolContext {
  const agent = {
    id: 'a',
    scope,
    cwd: place.work,
    onClose: (effect: () => void | Promise<void>) => closing.push(effect),
  }
  const { signal } = new AbortController()
  const base = { agent, callId: 'call', turn: 1, step: 1, cwd: place.work, signal }
  return { ...base, output: () => undefined, log: () => undefined, ...fields }
}

const textOf = ({ content }: ToolOutcome) => content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const tools: [string, () => Tool][] = [
  [
    'a persistent shell',
    () => persistentBash({ terminals, description: 'x', terminal: () => ({ confine: place.confine }) }),
  ],
  ['a command of its own', () => oneShotBash({ confine: () => place.confine })],
]
const says = async (tool: Tool, args: JsonObject, fields?: Partial<ToolContext>) =>
  textOf(await tool.run(args, context(fields)))

/** Pids whose command line holds the text. */
const running = (text: string) =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text)
    } catch {
      return false // gone meanwhile
    }
  })
const seconds = () => `${86_400 + Math.floor(Math.random() * 1e6)}`

const without = await unconfined()
const note = without === undefined ? '' : ` (nothing confines here: ${without})`

describe.skipIf(without !== undefined).each(tools)(`%s in the sandbox${note}`, (name, make) => {
  test('prints 1 GB: memory stays bounded, the file too, and both say what is missing', async () => {
    const before = process.memoryUsage().rss
    let most = 0
    const output = () => (most = Math.max(most, process.memoryUsage().rss))
    const said = await says(make(), { command: 'yes 0123456789abcde | head -c 1000000000; echo; echo end' }, { output })
    expect(said).toMatch(/end$/)
    const path = /the first (\d+) bytes of it are in (\/tmp\/call-\w+\.log)/.exec(said)
    expect(Number(path?.[1])).toBe(50 * 1024 * 1024)
    expect(statSync(join(place.data, 'tmp/session-1', path![2]!.slice(5))).size).toBe(50 * 1024 * 1024)
    expect(said.length).toBeLessThan(17_000)
    expect(most - before).toBeLessThan(400 * 1024 * 1024)
  }, 180_000)

  test('a process that ignores TERM and ctrl-C ends at the limit all the same', async () => {
    const mark = seconds()
    const began = performance.now()
    const deaf = `sh -c "trap '' INT TERM HUP; echo deaf; while :; do sleep ${mark}; done"`
    const limit: JsonObject = name === 'a persistent shell' ? {} : { timeoutMs: 500 }
    const abort = new AbortController()
    const output = (text: string) => text.includes('deaf') && name === 'a persistent shell' && abort.abort()
    const said = await says(make(), { command: `${deaf}; true`, ...limit }, { output, signal: abort.signal })
    expect(said).toMatch(/^deaf\n/)
    expect(performance.now() - began).toBeLessThan(15_000)
    await expect.poll(() => running(mark)).toEqual([])
  })

  test('a daemon that has left its session ends with the sandbox', async () => {
    const mark = seconds()
    await says(make(), { command: `setsid nohup sh -c "sleep ${mark}; true" >/dev/null 2>&1 & sleep 0.1` })
    if (name === 'a persistent shell') expect(running(mark).length).toBeGreaterThan(0)
    await terminals.closeAll()
    await expect.poll(() => running(mark)).toEqual([])
  })

  test('a full /tmp fails the command that fills it, and the next one works', async ({ skip }) => {
    const real = join(place.data, 'tmp/session-1')
    if (spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', real]).status !== 0)
      return skip('needs the right to mount a small file system')
    closing.push(() => void execFileSync('/bin/umount', ['-l', real]))
    const tool = make()
    const filled = await says(tool, { command: 'head -c 1000000 /dev/zero >/tmp/big; echo "code $?"' })
    expect(filled).toMatch(/No space left on device\ncode 1$/)
    const long = await says(tool, { command: 'seq 1 200000 | tail -c 1000000' })
    expect(long).toMatch(/200000$/)
    expect(long).not.toContain('all of it')
    expect(await says(tool, { command: 'rm /tmp/big; ls -A /tmp; echo fine >/tmp/a && cat /tmp/a' })).toBe('fine')
  })
})

describe.skipIf(without !== undefined)(`a machine's limits${note}`, () => {
  test.each([
    ['memory', { memoryMb: 64 }, 'x=$(head -c 200000000 /dev/zero | tr "\\0" a); echo "${#x}"', /^(?!200000000)/],
    ['size of a file', { fileMb: 1 }, 'head -c 3000000 /dev/zero >big; stat -c %s big', /1048576/],
    [
      'open files',
      { openFiles: 40 },
      'for i in {1..60}; do exec {fd}</dev/null || break; done; echo "at $i"',
      /at (2|3|4)\d/,
    ],
    ['processes', { processes: 33 }, 'ulimit -u', /^33$/],
  ])('%s', async (_name, limits, command, expected) => {
    await place.remove()
    place = confinement({ limits })
    expect(await says(tools[1]![1](), { command })).toMatch(expected)
    // Nobody can raise them again from inside.
    expect(await says(tools[1]![1](), { command: 'ulimit -n unlimited; echo "code $?"' })).toMatch(/code 1$/)
  })
})

/** Terminals and other descriptors of this process, and what runs below it. */
const held = () => ({
  terminals: readdirSync('/proc/self/fd').filter((fd) => /\/(ptmx|pts\/\d+)$/.test(linkOf(fd))).length,
  sandboxes: running(place.work).length,
})

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return '' // the descriptor of the listing itself
  }
}

test.skipIf(without !== undefined)(
  `B45 sandboxed shells opened and closed 200 times leave no terminal, descriptor, process or control folder${note}`,
  async () => {
    const root = join(place.home, 'c')
    const before = held()
    const files = () => readdirSync('/proc/self/fd').length
    let first: number | undefined
    for (let round = 0; round < 20; round++) {
      const shells = Array.from({ length: 10 }, () => shell({ controlRoot: root }))
      const results = await Promise.all(shells.map((each, index) => each.run(`sleep 1000 & echo ${index}`)))
      expect(results.map(({ output }) => output)).toEqual(shells.map((_, index) => `${index}\n`))
      await Promise.all(shells.map((each) => each.close()))
      first ??= files()
    }
    await expect.poll(held).toEqual(before)
    await expect.poll(files).toBeLessThanOrEqual(first!)
    expect(existsSync(root) ? readdirSync(root) : []).toEqual([])
  },
  120_000,
)
