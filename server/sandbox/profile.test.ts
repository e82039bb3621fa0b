import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isWithin, rebase } from './mounts.ts'
import { bwrapArgv, type Profile } from './profile.ts'

const profile = (fields: Partial<Profile> = {}): Profile => ({
  program: '/usr/bin/bwrap',
  mode: 'workspace-write',
  network: true,
  roots: ['/home/u/work', '/data/tmp/s1'],
  mounts: [['/tmp', '/data/tmp/s1']],
  masks: ['/data', '/home/u/.ssh', '/home/u/.netrc', '/home/u/.gone'],
  guarded: ['/home/u/work/.git/hooks', '/home/u/work/.git/config'],
  control: '/var/tmp/core-web-0/s-1',
  cwd: '/home/u/work',
  lockUserns: true,
  kindOf: (path) => (path.endsWith('gone') ? undefined : /netrc|config/.test(path) ? 'file' : 'folder'),
  ...fields,
})

const words = (text: string) => text.trim().split(/\s+/)

test('the whole command line of a workspace that may be written', () => {
  expect(bwrapArgv(profile())).toEqual(
    words(`/usr/bin/bwrap --ro-bind / / --dev /dev --proc /proc --unshare-user --disable-userns
      --unshare-pid --unshare-ipc --unshare-uts --cap-drop ALL --die-with-parent
      --tmpfs /data --tmpfs /home/u/.ssh --dev-bind /dev/null /home/u/.netrc
      --bind /data/tmp/s1 /tmp --bind /home/u/work /home/u/work
      --bind /var/tmp/core-web-0/s-1 /var/tmp/core-web-0/s-1 --bind /home/u/work/.git /home/u/work/.git
      --ro-bind /home/u/work/.git/hooks /home/u/work/.git/hooks --ro-bind /home/u/work/.git/config /home/u/work/.git/config
      --remount-ro /data --remount-ro /home/u/.ssh --unsetenv TMPDIR --chdir /home/u/work --`),
  )
})

test('read-only: no workspace is bound, control folder and /tmp stay writable, no network when it is off', () => {
  const argv = bwrapArgv(profile({ mode: 'read-only', network: false, lockUserns: false, masks: [] }))
  expect(argv).toEqual(
    words(`/usr/bin/bwrap --ro-bind / / --dev /dev --proc /proc
      --unshare-pid --unshare-ipc --unshare-uts --cap-drop ALL --die-with-parent
      --bind /data/tmp/s1 /tmp --bind /var/tmp/core-web-0/s-1 /var/tmp/core-web-0/s-1
      --unshare-net --unsetenv TMPDIR --chdir /home/u/work --`),
  )
})

test('read-only: a workspace that a mask or /tmp would cover is shown all the same, read-only', () => {
  const argv = bwrapArgv(profile({ mode: 'read-only', roots: ['/data/demo', '/tmp/w', '/srv/w'] })).join(' ')
  expect(argv).toContain('--ro-bind /data/demo /data/demo')
  expect(argv).toContain('--ro-bind /tmp/w /tmp/w')
  expect(argv).not.toContain('/srv/w')
})

test('a mask inside of a workspace is laid over it again, also where the folder is shown under another path', () => {
  const argv = bwrapArgv(profile({ roots: ['/home/u'], mounts: [['/shown', '/home/u']] })).join(' ')
  expect(argv).toMatch(/--bind \/home\/u \/shown .*--tmpfs \/shown\/\.ssh/)
  expect(argv).not.toMatch(/--bind \/home\/u \/home\/u /)
})

test('a session folder that is gone leaves the place private', () => {
  const argv = bwrapArgv(profile({ mounts: [['/tmp', '/data/gone']] })).join(' ')
  expect(argv).toContain('--tmpfs /tmp')
})

// ---- what a path inside shows, worked out from the command line alone ----

interface Step {
  at: string
  real?: string
  write: boolean
}

function steps(argv: string[]): Step[] {
  const found: Step[] = []
  for (let index = 0; index < argv.length; index++) {
    const [flag, first = '', second = ''] = argv.slice(index)
    if (flag === '--bind' || flag === '--ro-bind' || flag === '--dev-bind')
      found.push({ at: second, real: first, write: flag !== '--ro-bind' })
    if (flag === '--tmpfs') found.push({ at: first, write: true })
    if (flag === '--remount-ro') for (const step of found) if (step.at === first && !step.real) step.write = false
  }
  return found
}

/** The last mount that covers a path is the one that is seen. */
function seen(all: Step[], path: string): { real?: string; write: boolean } {
  const { at, real, write } = all.findLast((step) => isWithin(path, step.at))!
  return real === undefined || real === '/dev/null' ? { write } : { real: rebase(path, at, real), write }
}

const part = fc.constantFrom('a', 'b', 'c')
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`)
const paths = fc.uniqueArray(path, { maxLength: 4 })
const random = fc.record({
  mode: fc.constantFrom('read-only' as const, 'workspace-write' as const),
  roots: paths,
  masks: paths,
  guarded: paths,
  mounts: fc.option(fc.tuple(fc.constantFrom('/tmp', '/a', '/b/c'), path)).map((mount) => (mount ? [mount] : [])),
  control: fc.constantFrom('/var/c', '/a/control'),
  cwd: fc.constant('/'),
})

/** The longest root, shown folder or mask that holds a real path decides; of equal ones the mask. */
function isMasked(real: string, { masks, roots, mounts, control }: Profile): boolean {
  const longest = (list: readonly string[]) =>
    Math.max(0, ...list.filter((each) => isWithin(real, each)).map((each) => each.length))
  const granted = [...roots, ...mounts.map(([, folder]) => folder)].filter((each) => !masks.includes(each))
  return longest(masks) > 0 && longest(masks) >= longest([...granted, control!])
}

test('no order of mounts shows what a mask hides, or lets be written what is no root', () => {
  fc.assert(
    fc.property(random, path, (fields, inside) => {
      const made = profile({ ...fields, kindOf: () => 'folder' })
      const { real, write } = seen(steps(bwrapArgv(made)), inside)
      if (real === undefined) return
      expect({ real, masked: isMasked(real, made) }).toEqual({ real, masked: false })
      if (!write) return
      const open = [made.control!, ...made.mounts.map(([, folder]) => folder)]
      if (made.mode === 'workspace-write') open.push(...made.roots)
      expect({ real, open: open.some((folder) => isWithin(real, folder)) }).toEqual({ real, open: true })
      expect({ real, guarded: isGuarded(real, made) }).toEqual({ real, guarded: false })
    }),
    { numRuns: 3000 },
  )
})

test('a guarded place inside of another one does not open that', () => {
  const mounts: [string, string][] = [['/a', '/c/b']]
  const made = profile({
    mode: 'read-only',
    roots: [],
    masks: [],
    guarded: ['/c/b/a', '/c/b/a/a'],
    mounts,
    kindOf: () => 'folder',
  })
  expect(seen(steps(bwrapArgv(made)), '/a/a')).toEqual({ real: '/c/b/a', write: false })
})

/** A root or shown folder below a guarded place opens it again, as a root below a mask does. */
function isGuarded(real: string, { guarded, roots, mounts, control }: Profile): boolean {
  const longest = (list: readonly string[]) =>
    Math.max(0, ...list.filter((each) => isWithin(real, each)).map((each) => each.length))
  return longest(guarded) > longest([...roots, ...mounts.map(([, folder]) => folder), control!])
}

test('a root that no mask holds and nothing else covers is writable', () => {
  fc.assert(
    fc.property(random, (fields) => {
      const made = profile({ ...fields, mode: 'workspace-write', mounts: [], kindOf: () => 'folder', guarded: [] })
      const all = steps(bwrapArgv(made))
      for (const root of made.roots)
        if (!isMasked(root, made)) expect({ root, ...seen(all, root) }).toEqual({ root, real: root, write: true })
    }),
    { numRuns: 1000 },
  )
})
