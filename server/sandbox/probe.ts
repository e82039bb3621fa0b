import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fixesFor, platformFix, type System } from './fixes.ts'
import { kindOf } from './places.ts'
import { bwrapArgv } from './profile.ts'
import type { SandboxVerdict } from '../wire/safety.ts'

/** Starts a process on a terminal, as the shells of agents are started. */
export type OpenTerminal = (
  argv: string[],
  options: { cwd: string; env: Record<string, string>; onData(chunk: Buffer): void },
) => { pid: number; exited: Promise<unknown> }

export interface ProbeOptions {
  openTerminal: OpenTerminal
  /** A folder of the host's own user, outside `/tmp`, for the trial's workspace. */
  scratch: string
  /** What sessions have masked, so that the trial mounts the same. */
  masks: readonly string[]
  env: Record<string, string | undefined>
  /** Where bubblewrap is looked for; default the system's own folders, then `PATH` (whose folders a command may write). */
  path?: string
  platform?: NodeJS.Platform
  uid?: number
  system?: System
  now?(): number
}

export interface Probed {
  verdict: SandboxVerdict
  /** Of the runner that passed: its whole path, and whether the profile may lock user namespaces. */
  runner?: { program: string; lockUserns: boolean }
}

/** Milliseconds for one trial. */
const LIMIT_MS = 5000
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'
const ROOT_NOTE = 'the host runs as root: the limit of processes does not hold (run the service as a user of its own)'
const LANDLOCK = 'Landlock: no launcher is part of this installation'

/**
 * Tries the real profile on a real terminal, with a workspace made for it: what sessions will use is what is tried. Takes some
 * tens of milliseconds, at most twice 5 s. Never rejects: what goes wrong is a finding.
 */
export async function probe(options: ProbeOptions): Promise<Probed> {
  const at = (options.now ?? Date.now)()
  const { platform = process.platform, env } = options
  if (env['CORE_WEB_BOUNDARY'] === 'container')
    return done({ enforcement: 'container', findings: ['the container declares itself the boundary'], fix: [], at })
  if (platform !== 'linux')
    return done({ enforcement: 'none', findings: [`no sandbox for ${platform}`], fix: platformFix(), at })
  const system = options.system ?? systemFacts()
  const program = await findProgram('bwrap', options.path ?? `${SYSTEM_PATH}:${env['PATH'] ?? ''}`)
  const version = program && (await versionOf(program))
  if (program === undefined || version === undefined) {
    const findings = ['bubblewrap: no program bwrap in PATH', LANDLOCK]
    return done({ enforcement: 'none', findings, fix: fixesFor(undefined, system), at })
  }
  const findings = [`bubblewrap ${version}`]
  let said = ''
  for (const lockUserns of [true, false]) {
    const trial = await attempt(options, { program, lockUserns })
    said += trial.said
    const what = lockUserns ? 'with namespaces locked' : 'without locked namespaces'
    if (trial.failed.length > 0) {
      findings.push(`trial ${what}: ${trial.failed.join(', ')}`)
      continue
    }
    findings.push(`trial ${what}: passed`)
    if (options.uid === 0) findings.push(ROOT_NOTE)
    const verdict: SandboxVerdict = { enforcement: 'full', runner: 'bwrap', version, findings, fix: [], at }
    return { verdict, runner: { program, lockUserns } }
  }
  return done({ enforcement: 'none', version, findings: [...findings, LANDLOCK], fix: fixesFor(said, system), at })
}

const done = (verdict: SandboxVerdict): Probed => ({ verdict })

/** Each check prints its name when it holds. */
const SCRIPT = `
[ -t 1 ] && : >/dev/tty && echo ok:terminal
m=$(set -o monitor 2>&1) && [ -z "$m" ] && set -o monitor && echo ok:job-control
: >"$1/workspace/made" && echo ok:workspace-write
: >/tmp/made && echo ok:own-tmp
: >"$1/control/made" && echo ok:control-folder
e=$( { : >"$1/outside"; } 2>&1); case $e in *'Read-only file system'*) echo ok:outside-read-only;; esac
[ ! -e "$1/masked/key" ] && [ ! -s "$1/masked-file" ] && echo ok:masks
echo "pid-namespace:$(readlink /proc/self/ns/pid)"
echo end:
`
const CHECKS = ['terminal', 'job-control', 'workspace-write', 'own-tmp', 'control-folder', 'outside-read-only', 'masks']

type Runner = NonNullable<Probed['runner']>

async function attempt(options: ProbeOptions, runner: Runner): Promise<{ failed: string[]; said: string }> {
  let scratch: string | undefined
  try {
    mkdirSync(options.scratch, { recursive: true, mode: 0o700 })
    scratch = mkdtempSync(join(options.scratch, 'probe-'))
    for (const name of ['workspace', 'tmp', 'control', 'masked']) mkdirSync(join(scratch, name))
    for (const name of ['masked/key', 'masked-file']) writeFileSync(join(scratch, name), 'x')
    const said = await run([...argvOf(options, scratch, runner), scratch], options.openTerminal)
    const failed = CHECKS.filter((check) => !said.includes(`ok:${check}`))
    if (kindOf(join(scratch, 'tmp/made')) === undefined && !failed.includes('own-tmp')) failed.push('own-tmp')
    const namespace = /pid-namespace:(pid:\[\d+\])/.exec(said)?.[1]
    if (namespace === undefined || namespace === readlinkSync('/proc/self/ns/pid')) failed.push('own-processes')
    if (failed.length === 0) return { failed, said }
    const first = said.includes('end:') ? '' : (said.trim().split('\n')[0]?.trim() ?? '')
    return { failed: first === '' ? failed.map((name) => `no ${name}`) : [first], said }
  } catch (error) {
    const said = (error as Error).message
    return { failed: [said], said }
  } finally {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
  }
}

function argvOf({ masks }: ProbeOptions, scratch: string, runner: Runner): string[] {
  const workspace = join(scratch, 'workspace')
  const argv = bwrapArgv({
    mode: 'workspace-write',
    network: true,
    roots: [workspace],
    mounts: [['/tmp', join(scratch, 'tmp')]],
    masks: [...masks, join(scratch, 'masked'), join(scratch, 'masked-file')],
    guarded: [],
    control: join(scratch, 'control'),
    cwd: workspace,
    ...runner,
    kindOf,
  })
  return [...argv, '/bin/bash', '--noprofile', '--norc', '-c', SCRIPT, 'bash']
}

async function run(argv: string[], openTerminal: OpenTerminal): Promise<string> {
  let said = ''
  const child = openTerminal(argv, {
    cwd: '/',
    env: { PATH: SYSTEM_PATH, LANG: 'C.UTF-8', TERM: 'dumb' },
    onData: (chunk) => (said += chunk.toString('latin1')),
  })
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => late.resolve('late'), LIMIT_MS)
  try {
    if ((await Promise.race([child.exited, late.promise])) !== 'late') return said
    process.kill(child.pid, 'SIGKILL')
    await child.exited
    throw new Error(`the trial took longer than ${LIMIT_MS / 1000} s`)
  } finally {
    clearTimeout(timer)
  }
}

async function versionOf(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: LIMIT_MS })
    return stdout.trim().replace(/^bubblewrap /, '')
  } catch {
    return undefined // not there, or nothing that runs
  }
}

function systemFacts(): System {
  const read = (path: string): string | undefined => {
    try {
      return readFileSync(path, 'utf8').trim()
    } catch {
      return undefined // this kernel has no such setting
    }
  }
  const facts = {
    apparmor: read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    clone: read('/proc/sys/kernel/unprivileged_userns_clone'),
    namespaces: read('/proc/sys/user/max_user_namespaces'),
  }
  const present = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
  return { ...present, container: ['/.dockerenv', '/run/.containerenv'].some((path) => kindOf(path) !== undefined) }
}

/** The program's path, or undefined: looked up once. */
export async function findProgram(name: string, path = SYSTEM_PATH): Promise<string | undefined> {
  for (const folder of path.split(':').filter((each) => each.startsWith('/'))) {
    const file = join(folder, name)
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return file
  }
  return undefined
}
