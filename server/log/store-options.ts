import { newId } from '../wire/ids.ts'
import type { Disk } from './jsonl/disk.ts'
import type { Durability } from './jsonl/durability.ts'
import { joinRows, type Assemble } from './jsonl/recover.ts'
import { Vocabulary } from './vocabulary.ts'

export interface StoreOptions {
  disk?: Disk
  durability?: Durability
  vocabulary?: Vocabulary
  now?: () => number
  newId?: () => string
  /** Of recovered answers; the model room's assembler, where it is at hand. */
  assemble?: Assemble
  /** Name and version of this program, for headers. */
  writer?: string
  allowNetworkDisk?: boolean
  onObserverError?: (error: unknown) => void
}

export type SettledOptions = Required<Omit<StoreOptions, 'disk' | 'onObserverError'>> &
  Pick<StoreOptions, 'onObserverError'>

export const withDefaults = (options: StoreOptions): SettledOptions => ({
  durability: 'strict',
  vocabulary: new Vocabulary(),
  now: Date.now,
  newId: () => newId(),
  assemble: joinRows,
  writer: 'core-web',
  allowNetworkDisk: false,
  ...options,
})
