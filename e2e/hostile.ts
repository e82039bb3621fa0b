import type { Catalog } from '../server/preset/loader.ts'
import type { Patch } from '../server/preset/patch.ts'

export const hostileCatalog: Catalog = { 'test-hostile': { plane: 'host', load: () => import('./rows/hostile.ts') } }
export const hostilePatch = { insert: [{ id: 'test-hostile', name: 'test-hostile' }] } as unknown as Patch
