import { dirname } from 'node:path'
import { isWithin, rebase, type Mount } from './mounts.ts'
import type { SandboxMode } from '../wire/safety.ts'

/** Anything that is no folder (socket, device) counts as a file; undefined: nothing there. */
export type KindOf = (path: string) => 'folder' | 'file' | undefined

export interface Profile {
  /** bubblewrap, by its whole path: what a search finds first may be a command's own making. */
  program: string
  mode: Exclude<SandboxMode, 'full'>
  network: boolean
  /** Real folders that may be written in workspace-write mode. */
  roots: readonly string[]
  /** Folders shown under another path, always writable: the session's own `/tmp`. */
  mounts: readonly Mount[]
  /** Real paths that are hidden; the longest root or mask that holds a path decides. */
  masks: readonly string[]
  /** Real paths inside the roots that stay read-only. */
  guarded: readonly string[]
  /** Writable in every mode. */
  control?: string
  /** As seen inside. */
  cwd: string
  /** No user namespace may be made inside. From bubblewrap 0.8.0; the probe says whether it works here. */
  lockUserns: boolean
  kindOf: KindOf
}

/** A folder of the machine and where it is seen. The first binding is the whole machine, read-only. */
interface Binding {
  real: string
  shown: string
  write: boolean
  /** Under its own path already. */
  implied?: true
}

interface Layer {
  at: string
  /** Among layers of the same place, the later one is seen. */
  argv: readonly string[]
}

const MACHINE = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']
const NAMESPACES = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL', '--die-with-parent']

/**
 * The command line of bubblewrap up to and with `--`: what follows runs inside. Without `--new-session`, which would take the
 * terminal away; the terminal is private to the shell, so nobody else can be typed at (CVE-2017-5226).
 * A later mount hides earlier ones below it: masks come first, then the bindings from the outside in, and a mask that a
 * binding would uncover is laid over it again. What does not exist is left out: bubblewrap would refuse to start.
 */
export function bwrapArgv(profile: Profile): string[] {
  const { program, network, cwd, lockUserns } = profile
  const { first, bound, sealed } = layers(profile)
  return [
    program,
    ...MACHINE,
    ...(lockUserns ? ['--unshare-user', '--disable-userns'] : []),
    ...NAMESPACES,
    ...first.flatMap(({ argv }) => argv),
    ...bound.flatMap(({ argv }) => argv),
    // An empty folder that could be written would look like a place to keep something.
    ...sealed.flatMap((at) => ['--remount-ro', at]),
    ...(network ? [] : ['--unshare-net']),
    // The host's place for temporary files is read-only inside; /tmp is the session's.
    '--unsetenv',
    'TMPDIR',
    '--chdir',
    cwd,
    '--',
  ]
}

function layers(profile: Profile): { first: Layer[]; bound: Layer[]; sealed: string[] } {
  const { kindOf, guarded } = profile
  const bindings = bindingsOf(profile)
  const masks = profile.masks.filter((mask) => kindOf(mask) !== undefined)
  const first: Layer[] = []
  const bound: Layer[] = bindings.filter(({ implied }) => !implied).map(bindLayer(kindOf))
  const sealed: string[] = []
  for (const mask of masks)
    for (const { at, binding } of seenAt(mask, bindings)) {
      const folder = kindOf(mask) === 'folder'
      const argv = folder ? ['--tmpfs', at] : ['--dev-bind', '/dev/null', at]
      ;(binding === bindings[0] ? first : bound).push({ at, argv })
      if (folder) sealed.push(at)
    }
  for (const path of guarded.filter((each) => kindOf(each) !== undefined))
    for (const { at, binding } of seenAt(path, bindings)) {
      if (!binding.write || hidden(path, masks, binding)) continue
      bound.push(...pins(path, binding, guarded), { at, argv: ['--ro-bind', path, at] })
    }
  return { first: outsideIn(first), bound: unique(outsideIn(bound)), sealed }
}

function bindingsOf({ mode, roots, mounts, masks, control, kindOf }: Profile): Binding[] {
  const exists = (path: string) => kindOf(path) === 'folder'
  const write = mode === 'workspace-write'
  const moved: Binding[] = mounts
    // A folder that is shown as itself stands in the table for its readers only.
    .filter(([shown, real]) => shown !== real && !masks.includes(real))
    .map(([shown, real]) => ({ real, shown, write: true }))
  const taken = new Set(moved.flatMap(({ real, shown }) => [real, shown]))
  // A root that is shown elsewhere needs no second place; one that is itself a mask is none.
  const plain = [...new Set(roots)]
    .filter((root) => exists(root) && !taken.has(root) && !masks.includes(root))
    // Read-only needs a binding of its own only where something else covers the folder.
    .filter((root) => write || [...masks, ...mounts.map(([shown]) => shown)].some((above) => isWithin(root, above)))
    .map((root) => ({ real: root, shown: root, write }))
  const own = control === undefined ? [] : [{ real: control, shown: control, write: true }]
  return [{ real: '/', shown: '/', write: false, implied: true }, ...moved, ...plain, ...own]
}

const bindLayer =
  (kindOf: KindOf) =>
  ({ real, shown, write }: Binding): Layer => ({
    at: shown,
    // Without its folder a place stays private all the same: the machine's own must not show through.
    argv: kindOf(real) === undefined ? ['--tmpfs', shown] : [write ? '--bind' : '--ro-bind', real, shown],
  })

/** Where a real path comes into sight: once for each binding that holds it and is not covered there by another one. */
function seenAt(path: string, bindings: readonly Binding[]): { at: string; binding: Binding }[] {
  return bindings
    .filter(({ real }) => isWithin(path, real) && path !== real)
    .map((binding) => ({ at: rebase(path, binding.real, binding.shown), binding }))
    .filter(({ at, binding }) => deepest(at, bindings) === binding)
}

/** The later one of two at the same place, as bubblewrap mounts them. */
function deepest(at: string, bindings: readonly Binding[]): Binding | undefined {
  return bindings
    .filter(({ shown }) => isWithin(at, shown))
    .reduce<Binding | undefined>(
      (best, each) => (best && best.shown.length > each.shown.length ? best : each),
      undefined,
    )
}

const hidden = (path: string, masks: readonly string[], { real }: Binding): boolean =>
  masks.some((mask) => isWithin(path, mask) && isWithin(mask, real) && mask !== real)

/**
 * The folders between a binding and a guarded place, bound onto themselves: a mount point cannot be renamed or removed, so
 * nobody can put a folder of the same name, with other contents, in the place of one that holds a guarded file.
 */
function pins(path: string, { real, shown }: Binding, guarded: readonly string[]): Layer[] {
  const between: Layer[] = []
  for (let folder = dirname(path); folder !== real; folder = dirname(folder)) {
    // Bound onto itself, a guarded place could be written again.
    if (guarded.some((place) => isWithin(folder, place))) continue
    const at = rebase(folder, real, shown)
    between.push({ at, argv: ['--bind', folder, at] })
  }
  return between
}

const depth = (path: string): number => (path === '/' ? 0 : path.split('/').length - 1)

const outsideIn = (list: readonly Layer[]): Layer[] => list.toSorted((a, b) => depth(a.at) - depth(b.at))

const unique = (list: readonly Layer[]): Layer[] => {
  const seen = new Set<string>()
  return list.filter(({ argv }) => {
    const key = argv.join('\0')
    return !seen.has(key) && seen.add(key)
  })
}
