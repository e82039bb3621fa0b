/** `/dev/fd` exists on Linux and macOS. 255 is bash's own script descriptor; the glob's is closed by then. */
const CLOSE_ALL =
  'for f in /dev/fd/*; do f=${f##*/}; [ "$f" -gt 2 ] 2>/dev/null && [ "$f" != 255 ] && eval "exec $f>&-"; done; exec "$@"'

/**
 * The same command without the descriptors it would inherit beyond 0, 1 and 2. The terminal library opens its masters
 * without close-on-exec, so any child of the host would otherwise hold, and could read and write, the terminals of other
 * sessions. Costs one start of a non-interactive bash, which then becomes the command: the pid stays the same.
 */
export const withoutInherited = (argv: string[]): string[] => [
  '/bin/bash',
  '--noprofile',
  '--norc',
  '-c',
  CLOSE_ALL,
  'bash',
  ...argv,
]
