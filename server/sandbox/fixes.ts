/** What the system says of itself; each undefined where there is no such file. */
export interface System {
  /** `/proc/sys/kernel/apparmor_restrict_unprivileged_userns` (Ubuntu 23.10 and later). */
  apparmor?: string
  /** `/proc/sys/kernel/unprivileged_userns_clone` (Debian, Arch kernels). */
  clone?: string
  /** `/proc/sys/user/max_user_namespaces`. */
  namespaces?: string
  container: boolean
}

const INSTALL = 'Install bubblewrap with the package manager (Debian, Ubuntu: apt install bubblewrap) and check again.'
const APPARMOR =
  'Ubuntu restricts user namespaces: allow them for bubblewrap with an AppArmor profile that has the rule "userns," for /usr/bin/bwrap, or for every program with sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.'
const DOCKER =
  'A container’s default seccomp and AppArmor settings forbid namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or declare the container itself as the boundary with CORE_WEB_BOUNDARY=container.'
const CLONE = 'Allow namespaces for users: sysctl -w kernel.unprivileged_userns_clone=1.'
const NAMESPACES = 'Allow user namespaces: sysctl -w user.max_user_namespaces=15000.'
const OTHER =
  'Run bwrap --ro-bind / / --unshare-pid true in a terminal; what it says names what is missing on this machine.'
const PLATFORM =
  'Only Linux can confine commands here; run without confinement, or run the host on Linux or in its container.'

export const platformFix = (): string[] => [PLATFORM]

/** Sentences for a person, the likeliest first. `said`: what bubblewrap printed; undefined when it is not there. */
export function fixesFor(said: string | undefined, { apparmor, clone, namespaces, container }: System): string[] {
  if (said === undefined) return container ? [INSTALL, DOCKER] : [INSTALL]
  const fixes = [
    ...(apparmor === '1' ? [APPARMOR] : []),
    ...(clone === '0' ? [CLONE] : []),
    ...(namespaces === '0' ? [NAMESPACES] : []),
    ...(container ? [DOCKER] : []),
  ]
  return fixes.length > 0 ? fixes : [OTHER]
}
