/** Of everything that runs in a sandbox. Absent: what the host process has. */
export interface Limits {
  /** Megabytes that one process may allocate (RLIMIT_DATA: address space that is merely reserved does not count). */
  memoryMb?: number
  /** Processes and threads of one sandbox. Does not hold where the host runs as root: the kernel exempts it. */
  processes?: number
  /** Descriptors of one process. */
  openFiles?: number
  /** Megabytes of one file that is written. */
  fileMb?: number
}

/** Far above what builds and test runs take, far below what brings a machine down. */
export const DEFAULT_LIMITS: Limits = { memoryMb: 8192, processes: 4096, openFiles: 65_536, fileMb: 16_384 }

interface Resource {
  flag: string
  /** Letter of bash's `ulimit` and its unit in bytes (1 for counts). */
  letter: string
  unit: number
  /** Line of `/proc/self/limits`. */
  line: string
  value: number | undefined
}

const MB = 1024 * 1024

const resources = ({ memoryMb, processes, openFiles, fileMb }: Limits): Resource[] => [
  { flag: '--data', letter: 'd', unit: 1024, line: 'Max data size', value: memoryMb && memoryMb * MB },
  { flag: '--nproc', letter: 'u', unit: 1, line: 'Max processes', value: processes },
  { flag: '--nofile', letter: 'n', unit: 1, line: 'Max open files', value: openFiles },
  { flag: '--fsize', letter: 'f', unit: 1024, line: 'Max file size', value: fileMb && fileMb * MB },
]

/**
 * What goes in front of a command inside the sandbox, where a count of processes starts at none. `prlimit` where there is
 * one (it is a tenth of the price of a bash), else bash's own `ulimit`. `current` is the text of `/proc/self/limits`: nobody
 * may go above a hard limit, and a refused limit would keep the command from starting.
 */
export function limitArgv(limits: Limits, { prlimit, current }: { prlimit?: string; current: string }): string[] {
  const values = resources(limits).flatMap((each) => {
    if (each.value === undefined) return []
    return [{ ...each, value: Math.min(each.value, hardLimit(current, each.line)) }]
  })
  if (values.length === 0) return []
  if (prlimit !== undefined) return [prlimit, ...values.map(({ flag, value }) => `${flag}=${value}:${value}`), '--']
  const set = values.map(({ letter, value, unit }) => `ulimit -${letter} ${Math.floor(value / unit)}`).join('; ')
  return ['/bin/bash', '--noprofile', '--norc', '-c', `${set}; exec "$@"`, 'bash']
}

function hardLimit(current: string, line: string): number {
  const found = current.split('\n').find((each) => each.startsWith(line))
  const hard = found?.slice(line.length).trim().split(/\s+/)[1]
  return hard === undefined || hard === 'unlimited' ? Infinity : Number(hard)
}
