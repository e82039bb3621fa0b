import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openPty } from '../terminal/pty.ts'
import { defaultRoot } from '../terminal/control.ts'
import { probe, type Probed, type ProbeOptions } from '../sandbox/probe.ts'
import { Sandbox, type SandboxOptions } from '../sandbox/sandbox.ts'
import type { Policy } from '../wire/safety.ts'
import type { Confine } from '../sandbox/confined.ts'

export interface Confinement {
  sandbox: Sandbox
  /** Its workspace, its data folder and its home, made for it and outside of `/tmp`. */
  work: string
  data: string
  home: string
  /** Changes of it hold for what is started afterwards. */
  policy: Policy
  /** Takes the places of a workspace anew, after files were made that are to be masked or guarded. */
  settle(): void
  confine: Confine
  remove(): Promise<void>
}

let tried: Promise<Probed> | undefined
/** One trial for all tests of a file. */
const probeOnce = (options: ProbeOptions) => (tried ??= probe(options))

/** A policy over real folders and the sandbox that enforces it. */
export function confinement(options: Partial<SandboxOptions> = {}): Confinement {
  const root = realpathSync(mkdtempSync('/var/tmp/core-web-sandbox-'))
  const [work, data, home] = ['work', 'data', 'home'].map((name) => join(root, name)) as [string, string, string]
  for (const folder of [work, data, home]) mkdirSync(folder)
  const uid = process.getuid?.()
  const env = { PATH: process.env['PATH'], HOME: home }
  const given = { dataDir: data, env, openTerminal: openPty, scratch: defaultRoot(), ...(uid !== undefined && { uid }) }
  const sandbox = new Sandbox({ ...given, probe: probeOnce, ...options })
  const policy: Policy = {
    sandbox: 'workspace-write',
    network: true,
    onAsk: 'deny',
    edits: 'auto',
    commands: 'auto',
    rules: [],
    roots: [],
    masks: [],
    guarded: [],
    mounts: [],
  }
  const settle = () => void Object.assign(policy, sandbox.placesOf('session-1', work))
  settle()
  return {
    sandbox,
    work,
    data,
    home,
    policy,
    settle,
    confine: (argv, place) => sandbox.argvFor(policy, argv, place),
    async remove() {
      await sandbox.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Why nothing can be confined here, or undefined where it can: such a test says it in its title. */
export async function unconfined(): Promise<string | undefined> {
  const place = confinement()
  const { enforcement, findings } = await place.sandbox.ready()
  await place.remove()
  return enforcement === 'full' ? undefined : findings.join('; ')
}
