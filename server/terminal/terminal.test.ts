import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { formatBashResult } from './format.ts'
import { readStat } from './process.ts'
import { Terminal, type RunOptions, type TerminalOptions } from './terminal.ts'
import { Terminals } from './terminals.ts'

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

/** A process that nobody has waited for is dead all the same. */
const lives = (pid: number) => !['Z', undefined].includes(readStat(pid)?.state)

const says = async (shell: Terminal, command: string, options?: RunOptions) =>
  formatBashResult(await shell.run(command, options)).text

/** Settles as soon as live output holds the word, so that a test acts while the command runs. */
function heard(word: string): { options: Pick<RunOptions, 'onOutput'>; promise: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  let seen = ''
  return { options: { onOutput: (text) => (seen += text).includes(word) && resolve() }, promise }
}

test('O-15 directory, exports, functions and jobs stay between calls and end with the terminal', async () => {
  const shell = terminal()
  expect(shell.pid).toBeUndefined()
  await shell.run('cd /usr; export A=1; f() { echo f$A; }; sleep 300 & JOB=$!')
  expect(await says(shell, 'pwd; sh -c "echo $A"; f; kill -0 $JOB && echo alive')).toBe('/usr\n1\nf1\nalive')
  expect(shell.cwd()).toBe('/usr')
  expect(shell.hasProcesses()).toBe(true)
  const job = Number((await shell.run('echo $JOB')).output)
  expect(lives(job)).toBe(true)
  await shell.close()
  expect(lives(job)).toBe(false)
  expect(shell.pid).toBeUndefined()
})

test('O-15 the first result of a new shell says so, once, and only when there was one before', async () => {
  const shell = terminal()
  expect(await says(shell, 'A=1; echo first')).toBe('first')
  await shell.run('exit 0')
  expect(await says(shell, 'echo "[$A]"')).toBe(
    `[new shell: death; directory ${work}, variables and jobs are gone]\n[]`,
  )
  expect(await says(shell, 'echo again')).toBe('again')
})

test.each(['restart', 'idle', 'mode'] as const)(
  'O-15 a shell after %s is announced with that reason',
  async (reason) => {
    const shell = terminal()
    shell.markPrevious(reason)
    expect(await says(shell, 'echo x')).toBe(
      `[new shell: ${reason}; directory ${work}, variables and jobs are gone]\nx`,
    )
  },
)

test('O-15 a mode switch ends the shell after the running call and starts the next one in the new mode', async () => {
  let mode = 'one'
  const shell = terminal({
    confine: (bash) => ({ kind: 'sandboxed', argv: ['/usr/bin/env', `MODE=${mode}`, ...bash] }),
  })
  expect(await says(shell, 'echo $MODE')).toBe('one')
  mode = 'two'
  await shell.replace('mode')
  expect(await says(shell, 'echo $MODE')).toMatch(/^\[new shell: mode; .*\]\ntwo$/)
})

test('O-15 a shell that was lost is followed by one in its last directory, as long as that is there', async () => {
  const shell = terminal()
  await shell.run('mkdir deep; cd deep')
  await shell.run('exit 3')
  expect(await says(shell, 'pwd')).toBe(
    `[new shell: death; directory ${work}/deep, variables and jobs are gone]\n${work}/deep`,
  )
  await shell.run('cd ..; rmdir deep; cd /usr; mkdir /nowhere/x 2>/dev/null; kill -9 $$')
  expect(await says(shell, 'pwd')).toContain(`directory ${work},`)
  await shell.run('cd /usr')
  await shell.replace('restart')
  expect(await says(shell, 'pwd')).toContain(`[new shell: restart; directory ${work},`)
})

test('O-15 jobs of a shell that ended by itself do not outlive it', async () => {
  const shell = terminal()
  const job = Number((await shell.run('nohup sleep 300 >/dev/null 2>&1 & echo $!')).output)
  expect(lives(job)).toBe(true)
  await shell.run('kill -9 $$')
  await shell.run('true')
  expect(lives(job)).toBe(false)
})

test('O-16 two agents have two shells, and a preset without calls has none', async () => {
  const terminals = new Terminals()
  const [one, two] = [{}, {}]
  const make = () => ({ cwd: work })
  await terminals.get(one, make).run('A=one; cd /')
  expect((await terminals.get(two, make).run('echo "[$A]"; pwd')).output).toBe(`[]\n${work}\n`)
  expect(terminals.get(one, make)).toBe(terminals.get(one, make))
  expect(terminals.has({})).toBe(false)
  expect(terminals.count()).toBe(2)
  await terminals.replace(two, 'mode')
  await terminals.replace({}, 'mode')
  expect((await terminals.get(two, make).run('true')).notices).toMatchObject([{ kind: 'new-shell', reason: 'mode' }])
  await terminals.close(one)
  expect(terminals.has(one)).toBe(false)
  await terminals.closeAll()
  expect(terminals.count()).toBe(0)
})

test('O-24 exit codes, a dead shell and a killed shell read as the contract says', async () => {
  const shell = terminal()
  expect(await says(shell, 'echo out; (exit 7)')).toBe('out\n[exit code: 7]')
  expect(await says(shell, 'echo $?')).toBe('7')
  expect(await says(shell, 'exit 3')).toContain('[shell exited: code 3]\nThe next call starts a fresh shell.')
  const killed = formatBashResult(await shell.run('kill -9 $$'))
  expect(killed.text).toContain('[shell killed by signal: SIGKILL]\nThe next call starts a fresh shell.')
  expect(killed.isError).toBe(true)
})

test('O-24 a cancelled command gives its output so far and keeps the shell', async () => {
  const shell = terminal()
  const abort = new AbortController()
  const { options, promise } = heard('begun')
  const call = shell.run('A=kept; echo begun; sleep 60; echo never', { ...options, signal: abort.signal })
  await promise
  abort.abort()
  const result = await call
  expect(result.end).toEqual({ kind: 'cancelled', stateKept: true })
  expect(formatBashResult(result).text).toMatch(/^begun\s+\[cancelled\]\nThe shell was kept/)
  expect(await says(shell, 'echo $A')).toBe('kept')
})

test('O-24 B37 a command ends at its limit; a shell that ignores everything is ended, and the text says so', async () => {
  const shell = terminal()
  const soft = await shell.run('A=kept; sleep 9999', { timeoutMs: 300 })
  expect(soft.end).toEqual({ kind: 'timeout', stateKept: true })
  expect(soft.ms).toBeLessThan(4000)
  expect(formatBashResult(soft).text).toMatch(/^\s*\[timed out: the limit is 0\.3 s.*\]\nThe shell was kept/)
  expect(await says(shell, 'echo $A')).toBe('kept')
  const hard = await shell.run("trap '' INT; while :; do :; done", { timeoutMs: 300 })
  expect(hard.end).toEqual({ kind: 'timeout', stateKept: false })
  expect(formatBashResult(hard).text).toContain('The shell had to be ended. The next call starts a fresh shell.')
  expect(await says(shell, 'echo "[$A]"')).toMatch(/^\[new shell: death; /)
})

test('B39 a call settles when its program ignores ctrl-C and SIGTERM', async () => {
  const shell = terminal()
  const abort = new AbortController()
  const { options, promise } = heard('deaf')
  const call = shell.run(`sh -c "trap '' INT TERM; echo deaf; while :; do sleep 60; done"; true`, {
    ...options,
    signal: abort.signal,
  })
  await promise
  abort.abort()
  const result = await call
  expect(result.end).toEqual({ kind: 'cancelled', stateKept: true })
  expect(result.ms).toBeLessThan(8000)
})

test.each(['cat <<EOF\nabc', 'echo "abc', 'if true; then', '( echo a'])(
  'B36 an unfinished command ends at once and the shell goes on: %j',
  async (command) => {
    const shell = terminal()
    await shell.run('A=kept')
    const result = await shell.run(command)
    expect(result.end.kind).toBe('completed')
    expect(result.ms).toBeLessThan(2000)
    expect(await says(shell, 'echo $A')).toBe('kept')
  },
)

test('B41 pagers and editors do not stop a command', async () => {
  const shell = terminal()
  const result = await shell.run(
    [
      'git init -q . && git config user.email a@b && git config user.name n',
      'for i in 1 2 3; do echo $i > f; git add f; git commit -qm "m$i"; done',
      'git log | head -300; git log; git commit --amend; git rebase -i HEAD~2; echo "code $?"',
    ].join('\n'),
  )
  expect(result.end).toEqual({ kind: 'completed', exitCode: 0 })
  expect(result.output).toContain('code 0\n')
})

test('B41 a program that waits for a person is interrupted long before the limit, and the shell is kept', async () => {
  const shell = terminal()
  const result = await shell.run('A=kept; cat </dev/tty')
  expect(result.end).toEqual({ kind: 'needs-input', stateKept: true })
  expect(formatBashResult(result)).toMatchObject({ isError: true, text: expect.stringContaining('waited for input') })
  expect(await says(shell, 'echo $A')).toBe('kept')
})

test('B42 silence is no reason to interrupt', async () => {
  const silent = [
    'sleep 2',
    'x=$(sleep 2)',
    'sleep 2 | cat',
    'read -t 2 x < <(sleep 2)',
    'sleep 2 & wait $! 2>/dev/null',
  ]
  const results = await Promise.all(silent.map((command) => terminal().run(`${command}; echo end`)))
  for (const { end, output } of results) {
    expect(end).toEqual({ kind: 'completed', exitCode: 0 })
    expect(output).toBe('end\n')
  }
})

test('calls wait for each other in order, and one that is cancelled meanwhile never runs', async () => {
  const shell = terminal()
  const abort = new AbortController()
  const { options, promise } = heard('one')
  const first = shell.run('echo one; sleep 0.3', options)
  const second = shell.run('touch ran', { signal: abort.signal })
  const third = shell.run('ls; echo three')
  await promise
  abort.abort()
  const cancelled = await second
  expect(cancelled).toMatchObject({ notRun: true, end: { kind: 'cancelled', stateKept: true } })
  expect(formatBashResult(cancelled).text).toBe('[cancelled before it ran]')
  expect((await first).end).toEqual({ kind: 'completed', exitCode: 0 })
  expect((await third).output).toBe('three\n')
  const late = await shell.run('touch ran', { signal: AbortSignal.abort() })
  expect(late.notRun).toBe(true)
})

test('closing ends the running call and those that wait, and later calls do not run', async () => {
  const shell = terminal()
  const { options, promise } = heard('begun')
  const running = shell.run('echo begun; sleep 60', options)
  const waiting = shell.run('echo never')
  await promise
  await shell.close()
  expect((await running).end).toEqual({ kind: 'cancelled', stateKept: false })
  expect((await waiting).notRun).toBe(true)
  expect((await shell.run('echo never')).notRun).toBe(true)
})

test('text of a job that arrives between two calls is told apart, at the head of the next result', async () => {
  const shell = terminal()
  const first = await shell.run('mkfifo said; (sleep 0.1; echo later; echo >said) & true')
  expect(first.output).toBe('')
  await readFile(join(work, 'said'))
  const next = await shell.run('echo mine')
  expect(next.output).toBe('mine\n')
  expect(formatBashResult(next).text).toMatch(
    /^\[output of background jobs since the last call\]\nlater[^]*\[end of background output\]\nmine$/,
  )
})

test('live output equals the result, without a trace of the wrapper', async () => {
  const shell = terminal()
  let live = ''
  const result = await shell.run('set -x; for i in 1 2 3; do echo "line $i"; done; printf "\\e[31mred\\e[0m %s" é', {
    onOutput: (text) => (live += text),
  })
  expect(live).toBe(result.output)
  expect(live).toContain('red é')
  expect(live).not.toMatch(/7777|core-web|builtin/)
})
