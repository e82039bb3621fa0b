import { readFile } from 'node:fs/promises'
import { interpolate } from '@deepseek-ai/cordis-plugin-loader'
import { lineOf } from './boot-layers.ts'
import { parseList } from './preset/file.ts'
import { applyLayers } from './preset/patch.ts'
import { GROUP, INCLUDE, flatRows } from './preset/rows.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { SkippedFile } from './boot-layers.ts'
import type { Catalog } from './preset/loader.ts'
import type { Layer, Patch } from './preset/patch.ts'

export interface Layers {
  layers: Layer[]
  skipped: SkippedFile[]
}

interface UserLayerOptions {
  ctx: Context
  catalog: Catalog
  /** The user's own patch file. */
  file: string
  hostFile: string
}

interface Validating {
  Config?: { '~standard'?: { validate(value: unknown): unknown } }
}

/**
 * The user's settings as far as they can be used. A mistake in them costs the row that it stands in, and no other: that row
 * keeps the last good settings of this run, else the shipped ones; so does everything when the file cannot be read at all.
 */
export class UserLayer {
  readonly #options: UserLayerOptions
  #layer: Layer | undefined
  readonly #good = new Map<string, Patch>()

  constructor(options: UserLayerOptions) {
    this.#options = options
  }

  async sound({ layers, skipped }: Layers): Promise<Layers> {
    const { file } = this.#options
    if (skipped.some((one) => one.file === file)) {
      if (!this.#layer) return { layers, skipped }
      // Below the --patch files, above the user's documents: where it was.
      const at = layers.findIndex(({ source }) => source === this.#below(layers))
      return { layers: layers.toSpliced(at + 1, 0, this.#layer), skipped }
    }
    const index = layers.findIndex(({ source }) => source === file)
    const layer = layers[index]
    this.#layer = undefined
    if (!layer) return { layers, skipped }
    const names = await this.#names(layers)
    const faults: SkippedFile[] = []
    const patches: Patch[] = []
    for (const patch of layer.patches) {
      const fault = await this.#fault(patch, names)
      if (fault) faults.push(fault)
      else if (patch.id !== undefined && 'config' in patch) this.#good.set(patch.id, patch)
      const { config: _wrong, ...others } = patch
      patches.push(fault ? (this.#good.get(patch.id!) ?? others) : patch)
    }
    this.#layer = { ...layer, patches }
    return { layers: layers.with(index, this.#layer), skipped: [...skipped, ...faults] }
  }

  #below(layers: readonly Layer[]): string | undefined {
    const [first] = layers
    // The documents of the data folder come first, when there are any.
    return first?.patches.every(({ insert }) => insert?.every(({ name }) => name === INCLUDE))
      ? first.source
      : undefined
  }

  /** What each row of the host runs. */
  async #names(layers: readonly Layer[]): Promise<Map<string, string>> {
    const { hostFile } = this.#options
    try {
      const rows = parseList(await readFile(hostFile, 'utf8'), hostFile) as EntryOptions[]
      return new Map([...flatRows(applyLayers(rows, layers, () => {}))].map(({ id, name }) => [id, name]))
    } catch {
      // The host file's own row reports what is wrong with it.
      return new Map()
    }
  }

  async #fault(patch: Patch, names: ReadonlyMap<string, string>): Promise<SkippedFile | undefined> {
    const { catalog, file } = this.#options
    const { id: row } = patch
    const name = row === undefined ? undefined : names.get(row)
    if (row === undefined || name === undefined || !('config' in patch)) return undefined
    if (name === INCLUDE || name === GROUP || !Object.hasOwn(catalog, name)) return undefined
    const why = await this.#refusal(catalog[name]!, patch.config)
    if (why === undefined) return undefined
    const line = lineOf(await readFile(file, 'utf8'), row)
    return { file, ...(line !== undefined && { line }), row, plugin: name, cause: `row ${row} (${name}): ${why}` }
  }

  /** What the plugin says against a config; undefined also where that cannot be known before it runs. */
  async #refusal(entry: Catalog[string], config: unknown): Promise<string | undefined> {
    let value: unknown
    let schema: Validating['Config']
    try {
      const module = (await entry.load()) as Validating & { default?: Validating }
      schema = (module.default ?? module).Config
      value = interpolate(this.#options.ctx, structuredClone(config))
    } catch {
      // A module that does not load, or an expression that needs the row's own surroundings: the row itself tells.
      return undefined
    }
    if (!schema?.['~standard']) return undefined
    const { issues } = (await schema['~standard'].validate(value)) as {
      issues?: { message: string; path?: readonly unknown[] }[]
    }
    return issues
      ?.map(({ message, path = [] }) => [path.map(String).join('.'), message].filter(Boolean).join(': '))
      .join('; ')
  }
}
