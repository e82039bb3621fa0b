import {
  globSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultRoot } from '../terminal/control.ts'
import { Terminal, type TerminalOptions } from '../terminal/terminal.ts'
import { toReal } from './mounts.ts'
import { confinement, unconfined, type Confinement } from '../plugins/sandbox.fixture.ts'

const KILLED = join(import.meta.dirname, '../plugins/killed-host.fixture.ts')

let place: Confinement
const open: Terminal[] = []

beforeEach(() => {
  place = confinement()
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
  await place.remove()
})

function shell(options: Partial<TerminalOptions> = {}): Terminal {
  const made = new Terminal({ cwd: place.work, confine: place.confine, ...options })
  open.push(made)
  return made
}

async function says(made: Terminal, command: string): Promise<string> {
  const { output, end } = await made.run(command)
  expect(end.kind).toBe('completed')
  return output.trimEnd()
}

const without = await unconfined()
const note = without === undefined ? '' : ` (nothing confines here: ${without})`

const descriptors = () => readdirSync('/proc/self/fd').length

/** Pids whose command line holds the text: what of a test is still there. */
const running = (text: string) =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text)
    } catch {
      return false // gone meanwhile
    }
  })

describe.skipIf(without !== undefined)(`a confined shell${note}`, () => {
  test('the workspace and /tmp may be written, nothing else; /tmp is the session’s own', async () => {
    const made = shell()
    const outside = [place.home, '/etc', '/var/tmp', '/usr/local', '/root']
    const tried = outside.map((folder) => `: >${folder}/core-web-try`).join('; ')
    const denied = await says(made, `${tried}; echo a >made; echo b >/tmp/made; true`)
    expect(denied.split('\n').map((line) => /: ([^:]*)$/.exec(line)?.[1])).toEqual(
      outside.map(() => 'Read-only file system'),
    )
    expect(readFileSync(join(place.work, 'made'), 'utf8')).toBe('a\n')
    expect(readFileSync(join(place.data, 'tmp/session-1/made'), 'utf8')).toBe('b\n')
    expect(await says(made, 'ls -A /tmp')).toBe('made')
  })

  test('credentials and the data folder are empty and cannot be written', async () => {
    for (const folder of ['.ssh', '.config/gcloud']) mkdirSync(join(place.home, folder), { recursive: true })
    for (const file of ['.ssh/id', '.config/gcloud/key', '.netrc', '.npmrc', 'plain'])
      writeFileSync(join(place.home, file), 'secret')
    writeFileSync(join(place.data, 'token'), 'secret')
    place.settle()
    const made = shell()
    expect(await says(made, `cd ${place.home}; cat .netrc .npmrc; ls -A .ssh .config/gcloud ${place.data}`)).toBe(
      `.config/gcloud:\n\n.ssh:\n\n${place.data}:`,
    )
    expect(await says(made, `cat plain; grep -rs secret ${place.data} ${place.home} | wc -l`)).toBe('secret1')
    expect(await says(made, `for f in .ssh/a ${place.data}/a; do : >$f; done 2>&1 | grep -c Read-only`)).toBe('2')
    await says(made, 'echo x >.npmrc; true')
    expect(readFileSync(join(place.home, '.npmrc'), 'utf8')).toBe('secret')
  })

  test('what git would run later stays as it is, and git works', async () => {
    const made = shell()
    await says(
      shell({ confine: () => ({ kind: 'bare' }) }),
      'git init -q . && git config user.name a && git config user.email a@b.c',
    )
    place.settle()
    expect(place.policy.guarded).toEqual(['hooks', 'config'].map((name) => join(place.work, '.git', name)))
    const attempts = [
      'echo x >.git/hooks/pre-commit',
      'echo x >>.git/config',
      'rm -rf .git/hooks',
      'mv .git other',
      'mv .git/hooks .git/other',
      'git config core.hooksPath /tmp',
    ]
    for (const attempt of attempts) {
      const { end, output } = await made.run(attempt)
      expect({ attempt, end, output }).not.toMatchObject({ end: { exitCode: 0 } })
    }
    expect(existsSync(join(place.work, '.git/hooks/pre-commit'))).toBe(false)
    expect(await says(made, 'echo a >a; git add a && git commit -q -m one && git log --format=%s')).toBe('one')
  })

  test('read-only: the workspace is seen and not written, /tmp is', async () => {
    writeFileSync(join(place.work, 'here'), 'x')
    place.policy.sandbox = 'read-only'
    expect(await says(shell(), 'cat here; : >/tmp/a; : >there; rm here; ls')).toMatch(
      /^xbash: there: Read-only file system\nrm: .*Read-only file system\nhere$/,
    )
  })

  test.each(['read-only', 'workspace-write'] as const)(
    '%s: a workspace below /tmp is seen there, and nothing beside it',
    async (mode) => {
      const work = realpathSync(mkdtempSync('/tmp/core-web-below-'))
      try {
        writeFileSync(join(work, 'here'), 'x')
        Object.assign(place.policy, place.sandbox.placesOf('session-1', work), { sandbox: mode })
        expect(toReal(place.policy.mounts, join(work, 'here'))).toBe(join(work, 'here'))
        expect(toReal(place.policy.mounts, '/tmp/b')).toBe(join(place.data, 'tmp/session-1/b'))
        const { output } = await shell({ cwd: work }).run('cat here; echo; : >/tmp/b; ls -A1 /tmp; : >made')
        const denied = 'bash: made: Read-only file system\n'
        expect(output).toBe(`x\nb\n${basename(work)}\n${mode === 'read-only' ? denied : ''}`)
      } finally {
        rmSync(work, { recursive: true, force: true })
      }
    },
  )

  test('neither the host’s processes nor its environment can be seen or signalled', async () => {
    const name = readFileSync('/proc/self/environ', 'latin1')
      .split('\0')
      .map((entry) => entry.split('=')[0]!)
    const own = name.find((each) => /^(npm_|VITEST|NODE_ENV|PWD|SHLVL|_$)/.test(each))!
    const reads = `cat /proc/$PPID/environ /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '^${own}='`
    // Without a sandbox the host's variables are there: what is shown below is not an empty look-up.
    const bare = shell({ confine: () => ({ kind: 'bare' }) })
    expect(Number((await bare.run(reads)).output)).toBeGreaterThan(0)
    const made = shell()
    expect((await made.run(`sh -c "${reads.replaceAll('$', '\\$')}"`)).output.trim()).toBe('0')
    expect(Number(await says(made, 'ls -d /proc/[0-9]* | wc -l'))).toBeLessThan(8)
    expect((await made.run(`kill -0 ${process.pid}`)).end).toMatchObject({ exitCode: 1 })
  })

  test('network off: no address is reached and no name is found; on: the same address answers', async () => {
    const server = createServer((socket) => socket.end('hello\n')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const ask = `read -r line </dev/tcp/127.0.0.1/${port} && echo "$line"`
    try {
      expect(await says(shell(), ask)).toBe('hello')
      place.policy.network = false
      const off = shell()
      expect((await off.run(ask)).output).toContain('Connection refused')
      expect((await off.run('echo >/dev/tcp/192.0.2.1/80')).output).toContain('Network is unreachable')
      expect((await off.run('getent hosts example.com')).end).toMatchObject({ exitCode: 2 })
      expect(await says(off, 'grep -c : /proc/net/dev')).toBe('1')
    } finally {
      server.close()
    }
  })

  test('a daemon that has left the terminal’s session ends with the sandbox, also when the shell exits by itself', async () => {
    for (const way of ['close', 'exit'] as const) {
      const made = shell()
      const seconds = 86_400 + Math.floor(Math.random() * 1e6)
      await says(made, `setsid nohup sleep ${seconds} >/dev/null 2>&1 & disown; true`)
      await expect.poll(() => running(`sleep\0${seconds}`)).toHaveLength(1)
      expect(made.hasProcesses()).toBe(true)
      if (way === 'close') await made.close()
      else expect((await made.run('exit 3')).end).toEqual({ kind: 'exited', exitCode: 3 })
      await expect.poll(() => running(`sleep\0${seconds}`)).toEqual([])
    }
  })

  test('a host that is killed takes every command of its sandboxes along', async () => {
    const seconds = `${86_400 + Math.floor(Math.random() * 1e6)}`
    const host = spawn(process.execPath, [KILLED, seconds], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = (await once(host.stdout, 'data')) as [Buffer]
    await expect.poll(() => running(`sleep\0${seconds}`)).toHaveLength(3)
    host.kill('SIGKILL')
    await once(host, 'exit')
    await expect.poll(() => running(`sleep\0${seconds}`)).toEqual([])
    rmSync(dirname(said.toString().trim()), { recursive: true, force: true })
    // The next host would sweep it away.
    for (const left of globSync(join(defaultRoot(), `s-${host.pid}-*`))) rmSync(left, { recursive: true, force: true })
  })

  test('cancel frees the shell at once and keeps its state, a nested shell too', async () => {
    const made = shell()
    await says(made, 'STATE=kept; cd /tmp')
    const heard = Promise.withResolvers<void>()
    const controller = new AbortController()
    const { signal } = controller
    const call = made.run('bash -c "echo on; sleep 60; echo never"', { signal, onOutput: () => heard.resolve() })
    await heard.promise
    const began = performance.now()
    controller.abort()
    expect((await call).end).toEqual({ kind: 'cancelled', stateKept: true })
    expect(performance.now() - began).toBeLessThan(1500)
    expect(await says(made, 'echo $STATE; pwd')).toBe('kept\n/tmp')
    expect(made.cwd()).toBe('/tmp')
  })

  test('no namespace, mount or device of its own can be made inside', async () => {
    const made = shell()
    const attempts = [
      'unshare -Ur true',
      'unshare -m true',
      'mount -t tmpfs none /tmp',
      `mount -o remount,rw /`,
      'mknod /tmp/d c 1 1',
    ]
    for (const attempt of attempts) {
      const { end } = await made.run(attempt)
      expect({ attempt, end }).not.toMatchObject({ end: { exitCode: 0 } })
    }
  })

  test('nothing is left of twenty shells: no process, no descriptor, no control folder', async () => {
    await says(shell(), 'true')
    await open.pop()!.close()
    const before = descriptors()
    for (let round = 0; round < 20; round++) {
      const made = shell()
      await says(made, 'sleep 1000 & true')
      await made.close()
    }
    await expect.poll(descriptors).toBe(before)
    expect(running(place.work)).toEqual([])
  })

  test('O-15 a changed mode takes a new shell before the next call, and the model is told', async () => {
    const made = shell({ mode: () => place.policy.sandbox })
    await says(made, 'A=1; : >one')
    place.policy.sandbox = 'read-only'
    const { output, notices } = await made.run('echo "[$A]"; : >two')
    expect(output).toBe('[]\nbash: two: Read-only file system\n')
    expect(notices).toEqual([{ kind: 'new-shell', reason: 'mode', directory: place.work }])
    expect(await says(made, 'echo same')).toBe('same')
  })

  test('O-15 a lost shell is followed by one in its last directory, in the session’s own /tmp too', async () => {
    const made = shell({ real: (path) => toReal(place.policy.mounts, path) })
    await says(made, 'mkdir /tmp/deep; cd /tmp/deep')
    await made.run('exit 3')
    const { output, notices } = await made.run('pwd; echo $PWD')
    expect(output).toBe('/tmp/deep\n/tmp/deep\n')
    expect(notices).toEqual([{ kind: 'new-shell', reason: 'death', directory: '/tmp/deep' }])
  })

  test('a shell sees no control folder but its own', async () => {
    const other = shell()
    await says(other, 'true')
    const root = statSync(place.policy.masks.at(-1)!)
    expect(root.isDirectory()).toBe(true)
    expect(await says(shell(), `ls -A ${place.policy.masks.at(-1)} | wc -l`)).toBe('1')
  })
})

describe.skipIf(without !== undefined)(`limits${note}`, () => {
  test.each([
    ['memory', { memoryMb: 64 }, 'x=$(head -c 200000000 /dev/zero | tr "\\0" a); echo never', /alloc|^$/],
    ['size of a file', { fileMb: 1 }, 'head -c 3000000 /dev/zero >big; stat -c %s big', /1048576/],
    ['descriptors', { openFiles: 40 }, 'ulimit -n', /^40$/],
    ['processes', { processes: 33 }, 'ulimit -u', /^33$/],
  ])('%s', async (_name, limits, command, expected) => {
    await place.remove()
    place = confinement({ limits })
    const { output } = await shell().run(command)
    expect(output.trim()).toMatch(expected)
    expect(output).not.toContain('never')
  })
})

test('a confining mode that nothing can keep runs no command, and says what would help', async () => {
  await place.remove()
  place = confinement({
    probe: () =>
      Promise.resolve({ verdict: { enforcement: 'none', findings: ['nothing here'], fix: ['Install it.'], at: 1 } }),
  })
  const made = shell()
  const { end, output } = await made.run(`: >${join(place.work, 'ran')}`)
  expect(end).toMatchObject({ kind: 'refused', code: 'SANDBOX_UNAVAILABLE' })
  expect(end).toHaveProperty(
    'reason',
    expect.stringMatching(/workspace-write.*nothing here.*Install it\..*without confinement/),
  )
  expect([output, made.pid, existsSync(join(place.work, 'ran'))]).toEqual(['', undefined, false])
  place.policy.sandbox = 'full'
  expect((await made.run('echo bare')).output).toBe('bare\n')
})

test('the whole file system as a workspace is refused', async () => {
  place.policy.roots = ['/']
  const confined = await place.sandbox.argvFor(place.policy, ['true'], { cwd: '/' })
  expect(confined).toMatchObject({ kind: 'refused' })
})

test('a session’s temporary files go with it, and those of lost sessions at a later start', async () => {
  const lost = join(place.data, 'tmp/lost')
  const young = join(place.data, 'tmp/young')
  const kept = join(place.data, 'tmp/session-1')
  for (const folder of [lost, young]) mkdirSync(folder)
  for (const folder of [lost, kept]) utimesSync(folder, 1, 1)
  await place.sandbox.sweep((session) => Promise.resolve(session === 'session-1'))
  expect([lost, young, kept].map((folder) => existsSync(folder))).toEqual([false, true, true])
  await place.sandbox.forget('session-1')
  expect(existsSync(kept)).toBe(false)
})

test('an id that is a path leads nowhere else', () => {
  const { mounts } = place.sandbox.placesOf('../../evil', place.work)
  expect(mounts[0]![1].startsWith(`${place.data}/tmp/`)).toBe(true)
  expect(existsSync(join(place.data, '../evil'))).toBe(false)
})

test('one trial at a time; whoever listens hears of each', async () => {
  await place.remove()
  let trials = 0
  place = confinement({
    probe: () => Promise.resolve({ verdict: { enforcement: 'none', findings: [], fix: [], at: ++trials } }),
  })
  const heard: number[] = []
  const off = place.sandbox.onChange(({ at }) => heard.push(at))
  expect(place.sandbox.verdict().findings).toEqual(['not tried yet'])
  await Promise.all([place.sandbox.ready(), place.sandbox.ready()])
  await place.sandbox.reprobe()
  off()
  await place.sandbox.reprobe()
  expect([heard, place.sandbox.verdict().at]).toEqual([[1, 2], 3])
})
