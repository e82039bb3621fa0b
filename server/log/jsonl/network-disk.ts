import { statfs } from 'node:fs/promises'
import { CoreError } from '../../wire/errors.ts'

/** `f_type` of statfs(2), from linux/magic.h. */
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
])

/** Locks and fdatasync lie on network file systems, so a data folder there is refused (SL-16). */
export async function refuseNetworkDisk(
  path: string,
  typeOf: (path: string) => Promise<number> = async (at) => (await statfs(at)).type,
): Promise<void> {
  if (process.platform !== 'linux') return
  const name = NETWORK.get((await typeOf(path)) >>> 0)
  if (!name) return
  throw new CoreError(
    'session/read-only',
    `The data folder ${path} is on a network file system (${name}), where locks and syncs cannot be trusted. ` +
      'Use a local disk; for several hosts use the Postgres store.',
  )
}
