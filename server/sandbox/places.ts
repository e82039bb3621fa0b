import { realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { KindOf } from './profile.ts'

/** In the home folder. A mask for each one that exists: keys and sign-ins of a person's other programs. */
const CREDENTIALS = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.oci',
  '.password-store',
  '.terraform.d',
  '.config/gcloud',
  '.config/gh',
  '.config/glab-cli',
  '.config/hub',
  '.config/op',
  '.config/rclone',
  '.config/doctl',
  '.config/containers/auth.json',
  '.config/git/credentials',
  '.config/google-chrome',
  '.config/chromium',
  '.local/share/keyrings',
  '.mozilla',
  '.netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.boto',
  '.s3cfg',
  '.databrickscfg',
  '.vault-token',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.composer/auth.json',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
]

/** Whoever may write to one of these can have a program started outside of any sandbox. A read-only mount does not close a socket. */
const SOCKETS = [
  '/run/dbus',
  '/run/systemd/private',
  '/run/docker.sock',
  '/run/containerd',
  '/run/crio',
  '/run/podman',
  '/run/snapd.socket',
  '/run/libvirt',
]

export interface MaskOptions {
  dataDir: string
  /** Undefined: nobody's, only the data folder and the sockets are masked. */
  home?: string
  uid?: number
}

/** Real paths of what a confined command must not see, as far as they exist. */
export function maskedPlaces({ dataDir, home, uid }: MaskOptions): string[] {
  const candidates = [
    dataDir,
    ...(home === undefined ? [] : CREDENTIALS.map((name) => join(home, name))),
    ...SOCKETS,
    // The user's own message bus and agents.
    ...(uid === undefined ? [] : [`/run/user/${uid}`]),
  ]
  return existing(candidates)
}

/** Git runs what stands here, outside of any sandbox, when the person next uses it. */
export const guardedPlaces = (root: string): string[] =>
  existing(['.git/hooks', '.git/config', '.git/config.worktree'].map((name) => join(root, name)))

/** Real paths, each once. */
function existing(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => realOf(path) ?? []))]
}

export function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined // nothing there
  }
}

export const kindOf: KindOf = (path) => {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file'
  } catch {
    return undefined // nothing there, or nothing that this user could look at
  }
}
