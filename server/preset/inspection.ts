import { dirname } from 'node:path'
import { auditTree } from './audit.ts'
import { inventoryOfTree } from './document.ts'
import { HostFile } from './file.ts'
import { mountFailure, mountGeneration } from './generation.ts'
import { problemOf, unassembled } from './diagnosis.ts'
import { renamesOf } from './kernel.ts'
import { retiredKeys } from './retired.ts'
import { shapeProblem } from './rows.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { DryRun, GenerationRef } from '../wire/presets.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { Declaration, DeclaringRow } from './declaration.ts'
import type { InventoryRow } from './document.ts'
import type { Fault } from './fault.ts'
import type { Generation } from './generation.ts'
import type { Declared } from './roster.ts'

export interface Composition {
  id: string
  modules: { moduleName: string; baseUrl?: string; useHostBase: boolean }[]
  leakedServices: string[]
}

/** A mounted generation and who uses it; an agent's scope key is the agent. */
export interface GenerationInfo extends GenerationRef {
  /** Milliseconds since the epoch. */
  mountedAt: number
  retired: boolean
  /** Joined scopes and reads in progress. */
  users: number
  scopes: ScopeKey[]
}

/** How a declared preset stands, beside being usable or not. */
export interface Condition {
  /** Every problem is a missing service: it heals by itself. */
  waiting: boolean
  /** Retired keys and ids that are still in use, one sentence each. */
  notices: string[]
  /** The document that declares it; absent for one declared by a program. */
  file?: string
  /** The document lies in the data folder. */
  own: boolean
  /** What is wrong with the document while its last good generation runs. */
  stale?: Fault
}

export interface Trial {
  rows: InventoryRow[]
  broken?: string
  /** Absent when it could not be mounted. */
  dry?: DryRun
}

export const refOf = ({ id, number, digest }: Generation): GenerationRef => ({ preset: id, generation: number, digest })

export function compositionOf(generation: Generation): Composition {
  const modules = generation
    .audit()
    .filter((row) => !row.group && row.state.state === 'active')
    .map(({ name, entry }) => {
      const { baseUrl } = entry.parent.tree.ctx
      return { moduleName: name, ...(baseUrl !== undefined && { baseUrl }), useHostBase: baseUrl === undefined }
    })
  return { id: generation.id, modules, leakedServices: generation.leaks() }
}

const noticesOf = (generation: Generation): string[] =>
  auditTree(generation.tree).flatMap(({ id, entry }) =>
    retiredKeys(renamesOf(entry.fiber?.runtime?.callback), entry.options.config).map(
      ({ message }) => `row ${id}: ${message}`,
    ),
  )

export function conditionOf({ state, row }: Declared, ownFolder: string | undefined): Condition {
  const { tree } = row.entry.parent
  const file = tree instanceof HostFile ? tree : undefined
  const problems = state.kind === 'mounted' ? state.generation.audit() : []
  const failing = problems.filter((one) => one.state.state !== 'active' && one.state.state !== 'disabled')
  return {
    waiting: failing.length > 0 && failing.every((one) => one.state.state === 'waiting'),
    notices: state.kind === 'mounted' ? noticesOf(state.generation) : [],
    own: file !== undefined && dirname(file.filename) === ownFolder,
    ...(file && { file: file.filename }),
    ...(file?.fault && { stale: file.fault }),
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Mounts a declaration beside the running ones, looks at it, and takes it down again; what is wrong with it is the answer. */
export async function tryOut(
  own: Context,
  declaration: Declaration,
  row: DeclaringRow,
  world: { mountDeadlineMs: number; assemble(generation: Generation): Promise<DryRun> },
): Promise<Trial> {
  const shape = shapeProblem(declaration.plugins)
  if (shape !== undefined) return { rows: [], broken: shape }
  let generation
  try {
    generation = await mountGeneration(own, row, declaration, world.mountDeadlineMs)
  } catch (error) {
    return { rows: [], broken: messageOf(error) }
  }
  try {
    const failure = mountFailure(generation)
    const rows = inventoryOfTree(generation.audit())
    if (failure !== undefined) return { rows, broken: failure }
    const waiting = problemOf(generation)
    const dry = await world.assemble(generation).catch(unassembled)
    if (typeof dry === 'string') return { rows, broken: waiting ?? dry }
    return { rows, ...(waiting !== undefined && { broken: waiting }), dry }
  } finally {
    await generation.close()
  }
}
