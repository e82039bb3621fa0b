import type { Catalog } from '../server/preset/loader.ts'
import type { Patch } from '../server/preset/patch.ts'

export const hostileCatalog: Catalog = { 'test-hostile': { plane: 'host', load: () => import('./rows/hostile.ts') } }
export const hostilePatch = { insert: [{ id: 'test-hostile', name: 'test-hostile' }] } as unknown as Patch

/** Replaces the live providers by one cassette. */
export const replayPatches = (
  cassette: string,
  tokens: Record<string, string>,
  mode: 'replay' | 'refresh' = 'replay',
): Patch[] =>
  [
    { insert: [{ id: 'llm-replay', name: 'llm-replay', config: { cassette, tokens, mode } }] },
    { id: 'providers', config: { live: false } },
  ] as unknown as Patch[]
