import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_LIMITS, limitArgv, type Limits } from './limits.ts'
import { isWithin, toReal, toShown } from './mounts.ts'
import { guardedPlaces, kindOf, maskedPlaces, realOf } from './places.ts'
import { findProgram, probe, type OpenTerminal, type Probed } from './probe.ts'
import { bwrapArgv } from './profile.ts'
import type { Confined, Place } from './confined.ts'
import type { Policy, SandboxVerdict } from '../wire/safety.ts'

export interface SandboxOptions {
  dataDir: string
  env: Record<string, string | undefined>
  openTerminal: OpenTerminal
  /** Where shells have their control folders and a trial may make its workspace; outside `/tmp`. */
  scratch: string
  limits?: Limits
  /** Folders, with colons between them, in which bubblewrap is looked for; default see `ProbeOptions`. */
  path?: string
  uid?: number
  probe?: typeof probe
  now?(): number
}

/** What of a Policy follows from the session and this machine. */
export type Places = Pick<Policy, 'roots' | 'masks' | 'guarded' | 'mounts'>

const PENDING: Omit<SandboxVerdict, 'at'> = { enforcement: 'none', findings: ['not tried yet'], fix: [] }
const UNBOUND = 'The whole file system is this session’s workspace, and what has no outside cannot be confined.'
const STALE_MS = 24 * 3600 * 1000
const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/

/** What confines commands on this machine: the verdict of a trial, command lines by policy, and each session's own `/tmp`. */
export class Sandbox {
  readonly #options: SandboxOptions
  readonly #listeners = new Set<(verdict: SandboxVerdict) => void>()
  readonly #removals = new Set<Promise<void>>()
  #probed: Probed
  #probing: Promise<SandboxVerdict> | undefined
  #prlimit: Promise<string | undefined> | undefined

  constructor(options: SandboxOptions) {
    this.#options = options
    this.#probed = { verdict: { ...PENDING, at: this.#now() } }
  }

  /** What the last trial found; before the first one has ended, that nothing confines. */
  verdict(): SandboxVerdict {
    return this.#probed.verdict
  }

  /** Settles with the verdict of the trial that runs, or of the last one; starts the first. */
  ready(): Promise<SandboxVerdict> {
    this.#probing ??= this.#probe()
    return this.#probing
  }

  /** Tries again: something was installed or set. One trial at a time. */
  async reprobe(): Promise<SandboxVerdict> {
    await this.#probing
    this.#probing = this.#probe()
    return this.#probing
  }

  /** Told after every trial, until disposed. */
  onChange(listener: (verdict: SandboxVerdict) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * The command line that holds a command to the policy, once the first trial has ended. A confining mode that this machine
   * cannot keep is refused, with what to do about it; it is never run bare.
   */
  async argvFor(policy: Policy, argv: string[], { cwd, control }: Place): Promise<Confined> {
    const { sandbox: mode, network, roots, masks, guarded, mounts } = policy
    if (mode === 'full') return { kind: 'bare' }
    await this.ready()
    const { runner } = this.#probed
    if (!runner) return { kind: 'refused', code: 'SANDBOX_UNAVAILABLE', reason: this.#refusal(mode) }
    if (roots.includes('/')) return { kind: 'refused', code: 'SANDBOX_UNAVAILABLE', reason: UNBOUND }
    if (kindOf(toReal(mounts, cwd)) !== 'folder')
      return { kind: 'refused', code: 'COMMAND_NOT_STARTED', reason: `There is no folder ${cwd} to run a command in.` }
    const profile = { ...runner, mode, network, roots, masks, guarded, mounts, kindOf }
    const wrapped = bwrapArgv({ ...profile, cwd: toShown(mounts, cwd), ...(control !== undefined && { control }) })
    const [shown, real] = mounts[0] ?? []
    return {
      kind: 'sandboxed',
      argv: [...wrapped, ...(await this.#limits()), ...argv],
      ...(shown !== undefined && real !== undefined && { files: { shown, real } }),
    }
  }

  /** Makes the session's folder for temporary files, too. Throws the system's error when that cannot be done. */
  placesOf(session: string, workspace: string): Places {
    // Each command sees its own control folder, never those of other shells.
    const masks = [...this.#masks(), ...[realOf(this.#options.scratch) ?? []].flat()]
    const root = realOf(workspace) ?? workspace
    const places = { roots: [root], masks, guarded: guardedPlaces(root), mounts: [] as [string, string][] }
    // Such a workspace holds the machine's own /tmp: nothing else can be shown there.
    if (isWithin('/tmp', root)) return places
    const tmp = this.#makeTmp(session)
    const own: [string, string][] = isWithin(root, '/tmp') ? [[root, root]] : []
    return { ...places, roots: [root, tmp], mounts: [['/tmp', tmp], ...own] }
  }

  /** Takes the session's temporary files away. */
  async forget(session: string): Promise<void> {
    const removal = rm(this.#tmpOf(session), { recursive: true, force: true })
    this.#removals.add(removal)
    await removal.finally(() => this.#removals.delete(removal))
  }

  /** Removes the temporary files of sessions that are no more; the young ones may belong to a session without a file yet. */
  async sweep(exists: (session: string) => Promise<boolean>): Promise<void> {
    for (const session of await readdir(this.#tmpRoot()).catch(() => [])) {
      const info = await stat(this.#tmpOf(session)).catch(() => undefined)
      if (!info || this.#now() - info.mtimeMs < STALE_MS || (await exists(session))) continue
      await this.forget(session)
    }
  }

  /** Waits for a trial and for removals that run. */
  async close(): Promise<void> {
    this.#listeners.clear()
    await Promise.allSettled([this.#probing, ...this.#removals])
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }

  async #probe(): Promise<SandboxVerdict> {
    const { openTerminal, scratch, env, uid, now, path } = this.#options
    this.#probed = await (this.#options.probe ?? probe)({
      openTerminal,
      scratch,
      masks: this.#masks(),
      env,
      ...(uid !== undefined && { uid }),
      ...(path !== undefined && { path }),
      ...(now && { now }),
    })
    for (const listener of this.#listeners) listener(this.#probed.verdict)
    return this.#probed.verdict
  }

  #masks(): string[] {
    const { dataDir, env, uid } = this.#options
    const home = env['HOME']
    return maskedPlaces({ dataDir, ...(home !== undefined && { home }), ...(uid !== undefined && { uid }) })
  }

  #refusal(mode: string): string {
    const { findings, fix } = this.verdict()
    const why = `This session’s mode is ${mode}, and nothing on this machine can keep a command to it (${findings.join('; ')}).`
    return [why, ...fix, 'A person can also choose to run this session without confinement.'].join(' ')
  }

  async #limits(): Promise<string[]> {
    this.#prlimit ??= findProgram('prlimit')
    const prlimit = await this.#prlimit
    const current = currentLimits()
    return limitArgv(this.#options.limits ?? DEFAULT_LIMITS, { current, ...(prlimit !== undefined && { prlimit }) })
  }

  #tmpRoot(): string {
    return join(this.#options.dataDir, 'tmp')
  }

  #tmpOf(session: string): string {
    // An id that is no plain name must not lead elsewhere.
    const name = PLAIN_ID.test(session) ? session : createHash('sha256').update(session).digest('hex')
    return join(this.#tmpRoot(), name)
  }

  #makeTmp(session: string): string {
    const folder = this.#tmpOf(session)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return realOf(folder) ?? folder
  }
}

function currentLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return '' // no /proc: nothing is known to be lower
  }
}
