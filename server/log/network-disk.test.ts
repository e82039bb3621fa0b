import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { refuseNetworkDisk } from './jsonl/network-disk.ts'

test.runIf(process.platform === 'linux')(
  'SL-16 a data folder on a network file system is refused with the way out',
  async () => {
    await expect(refuseNetworkDisk('/data', async () => 0x6969)).rejects.toThrow(
      /\/data is on a network file system \(NFS\)/,
    )
    // statfs gives some magic numbers as negative 32-bit values.
    await expect(refuseNetworkDisk('/data', async () => 0xff534d42 | 0)).rejects.toThrow(/CIFS/)
    await expect(refuseNetworkDisk(tmpdir())).resolves.toBeUndefined()
  },
)
