import { expect, test } from 'vitest'
import { limitArgv } from './limits.ts'

const CURRENT = `Limit                     Soft Limit           Hard Limit           Units
Max file size             unlimited            unlimited            bytes
Max data size             unlimited            unlimited            bytes
Max processes             100                  96551                processes
Max open files            1024                 20000                files
`

test('limits stand in front of the command, none above what the host itself may have', () => {
  const limits = { memoryMb: 2, processes: 50, openFiles: 65_536, fileMb: 1 }
  expect(limitArgv(limits, { prlimit: '/usr/bin/prlimit', current: CURRENT })).toEqual([
    '/usr/bin/prlimit',
    '--data=2097152:2097152',
    '--nproc=50:50',
    '--nofile=20000:20000',
    '--fsize=1048576:1048576',
    '--',
  ])
})

test('without the program bash sets them, in its own units', () => {
  const [, , , , script] = limitArgv({ memoryMb: 2, openFiles: 64 }, { current: '' })
  expect(script).toBe('ulimit -d 2048; ulimit -n 64; exec "$@"')
})

test('no limits, nothing in front', () => {
  expect(limitArgv({}, { prlimit: '/usr/bin/prlimit', current: CURRENT })).toEqual([])
})
