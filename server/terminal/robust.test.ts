import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlDir, defaultRoot } from './control.ts'
import { formatBashResult } from './format.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

let work: string
const open: Terminal[] = []

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'terminal-')))
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((terminal) => terminal.close()))
  rmSync(work, { recursive: true, force: true })
})

function terminal(options: Partial<TerminalOptions> = {}): Terminal {
  const made = new Terminal({ cwd: work, ...options })
  open.push(made)
  return made
}

/** Descriptors of this process that are terminals; others come and go with the test runner. */
const terminalFds = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return /\/(ptmx|pts\/\d+)$/.test(readlinkSync(`/proc/self/fd/${fd}`))
    } catch {
      return false // the descriptor of the listing itself
    }
  }).length

test('B45 shells opened and closed 200 times leave no terminal descriptor and no control directory behind', async () => {
  const root = join(work, 'control')
  const before = terminalFds()
  for (let round = 0; round < 10; round++) {
    const shells = Array.from({ length: 20 }, () => new Terminal({ cwd: work, controlRoot: root }))
    const results = await Promise.all(shells.map((shell, index) => shell.run(`echo ${index}`)))
    expect(results.map(({ output }) => output)).toEqual(shells.map((_, index) => `${index}\n`))
    await Promise.all(shells.map((shell) => shell.close()))
  }
  expect(terminalFds()).toBe(before)
  expect(readdirSync(root)).toEqual([])
}, 60_000)

test('a shell inherits no descriptor of another shell', async () => {
  const [one, two] = [terminal(), terminal()]
  await one.run('true')
  const { output } = await two.run('ls -l /proc/$$/fd')
  const found = [...output.matchAll(/ (\d+) -> (.*)$/gm)].map(([, fd, path]) => ({ fd: Number(fd), path }))
  expect(found.filter(({ path }) => path?.includes('ptmx') || path?.startsWith('pipe:'))).toEqual([])
  expect(new Set(found.filter(({ path }) => path?.includes('/pts/')).map(({ path }) => path)).size).toBe(1)
})

test('20 KB and then exit, 100 times: no byte is lost', async () => {
  const sizes: number[] = []
  const rounds = async (shell: Terminal) => {
    for (let round = 0; round < 20; round++) {
      const { end, totalBytes } = await shell.run("head -c 20000 /dev/zero | tr '\\0' x; exec true")
      expect(end).toEqual({ kind: 'exited', exitCode: 0 })
      sizes.push(totalBytes)
    }
  }
  await Promise.all(Array.from({ length: 5 }, () => rounds(terminal())))
  expect(sizes).toHaveLength(100)
  expect(new Set(sizes)).toEqual(new Set([20_000]))
}, 90_000)

test('a line of 16 KB is one command', async () => {
  const { output } = await terminal().run(`x='${'é'.repeat(8192)}'; echo \${#x}`)
  expect(output).toBe('8192\n')
})

test('a directory that is gone does not keep a shell from starting', async () => {
  const gone = join(work, 'a', 'b')
  const shell = terminal({ cwd: gone })
  expect((await shell.run('pwd')).output).toBe(`${work}\n`)
  shell.markPrevious('restart')
  await shell.replace('restart')
  expect(formatBashResult(await shell.run('pwd')).text).toContain(`[new shell: restart; directory ${work},`)
})

test('a command that removes the control directory is not run twice, and the next call has a new shell', async () => {
  const shell = terminal()
  const removed = await shell.run('rm -rf "${BASH_SOURCE[0]%/*}"; echo x >>ran; echo out')
  expect(removed.output).toBe('out\n')
  expect(removed.end).toEqual({ kind: 'completed' })
  expect(formatBashResult(removed).text).toContain('[exit code: unknown]')
  expect(formatBashResult(await shell.run('cat ran')).text).toMatch(/^\[new shell: death; [^]*\nx$/)
})

test('a control directory that disappears between two calls costs the shell, not the command', async () => {
  const root = join(work, 'control')
  const shell = terminal({ controlRoot: root })
  await shell.run('A=1')
  rmSync(root, { recursive: true })
  const result = await shell.run('echo "[$A]"')
  expect(result.output).toBe('[]\n')
  expect(result.notices.map(({ kind }) => kind)).toContain('new-shell')
  expect(result.notices.map(({ kind }) => kind)).toContain('replaced')
})

test('a call file that cannot be read counts as not started: the command runs once, in a new shell', async () => {
  const shell = terminal()
  await shell.run('A=1; ulimit -n 3')
  const result = await shell.run('echo "[$A]"; echo x >>ran; cat ran')
  expect(result.output).toContain('[]\nx\n')
  expect(result.output.match(/^x$/gm)).toHaveLength(1)
})

test('a typed line that something else has read runs in a new shell', async () => {
  const shell = terminal()
  await shell.run(`PROMPT_COMMAND='read -r eaten </dev/tty'`)
  const result = await shell.run('echo ran')
  expect(result.end).toEqual({ kind: 'completed', exitCode: 0 })
  expect(result.output).toBe('ran\n')
  expect(formatBashResult(result).text).toMatch(/^\[new shell: death; .*\]\n\[the previous shell was replaced: /)
})

const small =
  (inodes: string, use: (root: string) => Promise<void>) => async (context: { skip(note: string): void }) => {
    const root = mkdtempSync('/var/tmp/small-')
    const mounted = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=64k,${inodes}`, 'tmpfs', root]).status === 0
    try {
      if (!mounted) return context.skip('needs the right to mount a small file system')
      await use(root)
    } finally {
      await Promise.all(open.splice(0).map((shell) => shell.close()))
      if (mounted) execFileSync('/bin/umount', ['-l', root])
      rmSync(root, { recursive: true, force: true })
    }
  }

test(
  'a full disk under the control directory: the status is unknown, and nothing hangs',
  small('nr_inodes=20', async (root) => {
    const shell = terminal({ controlRoot: join(root, 'c') })
    const full = await shell.run('touch ${BASH_SOURCE[0]%/*}/f{1..30} 2>/dev/null; echo ran')
    expect(full.output.trim()).toBe('ran')
    expect(full.end).toEqual({ kind: 'completed' })
    expect(full.ms).toBeLessThan(4000)
    expect((await shell.run('echo next')).output).toBe('next\n')
  }),
)

test(
  'a command that finds no room in the control directory is refused, and the next one runs',
  small('nr_inodes=100', async (root) => {
    const shell = terminal({ controlRoot: join(root, 'c') })
    const refused = await shell.run(`x='${'x'.repeat(100_000)}'; echo ran`)
    expect(refused.end.kind).toBe('failed')
    expect(refused.output).not.toContain('ran')
    expect((await shell.run('echo next')).output).toBe('next\n')
  }),
)

test('no shell to start is a result that says why', async () => {
  const missing = await terminal({ confine: () => ({ kind: 'sandboxed', argv: ['/nonexistent/sandbox'] }) }).run('true')
  expect(missing.end.kind).toBe('failed')
  const refusing = await terminal({
    confine: () => ({ kind: 'sandboxed', argv: ['/bin/sh', '-c', 'echo no such profile; exit 9'] }),
  }).run('true')
  expect(refusing.output).toContain('no such profile')
  expect(formatBashResult(refusing)).toMatchObject({
    isError: true,
    text: expect.stringContaining('[no shell could be'),
  })
  writeFileSync(join(work, 'file'), '')
  const closed = await terminal({ controlRoot: join(work, 'file', 'x') }).run('true')
  expect(closed.end.kind).toBe('failed')
})

test('inside another process the shell is found: interrupt, input watch and teardown work', async () => {
  const shell = terminal({
    confine: (bash) => ({ kind: 'sandboxed', argv: ['/bin/sh', '-c', '"$@"; exit $?', 'sh', ...bash] }),
  })
  await shell.run('A=kept')
  expect((await shell.run('sleep 60', { timeoutMs: 200 })).end).toEqual({ kind: 'timeout', stateKept: true })
  expect((await shell.run('cat </dev/tty')).end).toEqual({ kind: 'needs-input', stateKept: true })
  expect((await shell.run('echo $A')).output).toBe('kept\n')
  expect((await shell.run('exit 4')).end).toEqual({ kind: 'exited', exitCode: 4 })
})

test('what a closed shell cannot reach is named', async () => {
  const warnings: string[] = []
  const shell = terminal({ warn: (message) => warnings.push(message) })
  const { output } = await shell.run('mkfifo up; set +m; setsid sh -c "echo >up; exec sleep 300" & read x <up; echo $!')
  const pid = Number(output)
  await shell.close()
  process.kill(pid, 'SIGKILL')
  expect(warnings.join()).toContain(`${pid} s`)
})

test('with the terminal as standard input, readers end as interrupted and the shell is kept', async () => {
  const shell = terminal({ stdin: 'tty' })
  expect((await shell.run('A=kept; [ -t 0 ] && echo tty')).output).toBe('tty\n')
  const cat = await shell.run('cat')
  expect(cat.end).toEqual({ kind: 'needs-input', stateKept: true })
  expect(cat.ms).toBeLessThan(4000)
  expect((await shell.run('read x; echo never')).output).not.toContain('never')
  expect((await shell.run('echo $A; exec bash')).ms).toBeLessThan(3000)
  expect((await shell.run('echo "ok-$((1+1))"')).output).toBe('ok-2\n')
})

test('the control directory is private, plain and short, or refused', () => {
  const control = ControlDir.open(join(work, 'c'))
  expect(control.path).toMatch(/^[A-Za-z0-9/._-]{1,120}$/)
  expect(control.write('0'.repeat(16), 'echo')).toBe(true)
  control.remove()
  expect(control.write('1'.repeat(16), 'echo')).toBe(false)
  expect(control.status('1'.repeat(16))).toBe('gone')
  expect(() => ControlDir.open(join(work, "it's"))).toThrow('short path')
  expect(() => ControlDir.open(join(work, 'x'.repeat(130)))).toThrow('short path')
  expect(defaultRoot({ XDG_RUNTIME_DIR: work })).toBe(join(work, 'core-web'))
  expect(defaultRoot({ XDG_RUNTIME_DIR: '/nonexistent' })).toMatch(/^\/var\/tmp\/core-web-\d+$/)
  expect(defaultRoot({})).toMatch(/^\/var\/tmp\/core-web-\d+$/)
})

test('directories of a killed host are swept after a day, others are not touched', () => {
  const root = join(work, 'c')
  const dead = spawnSync('true').pid
  const names = [`s-${dead}-old`, `s-${dead}-new`, `s-${process.pid}-old`, 'mine', 'probe-new']
  for (const name of names) mkdirSync(join(root, name), { recursive: true })
  mkdirSync(join(root, 'probe-old'))
  const before = Date.now() / 1000 - 2 * 24 * 3600
  for (const name of ['probe-old', ...names.filter((each) => !each.endsWith('new'))])
    utimesSync(join(root, name), before, before)
  const control = ControlDir.open(root)
  expect(readdirSync(root).toSorted()).toEqual([basename(control.path), ...names.slice(1)].toSorted())
})
