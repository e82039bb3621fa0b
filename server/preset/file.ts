import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Service } from '@deepseek-ai/cordis'
import { entryListSchema } from '@deepseek-ai/cordis-plugin-include'
import { EntryGroup, EntryTree } from '@deepseek-ai/cordis-plugin-loader'
import { load } from 'js-yaml'
import { applyLayers } from './patch.ts'
import { prepareRows, stopChanged } from './rows.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { HostLoader, Plane } from './loader.ts'
import type { Layer, Patch } from './patch.ts'

export interface HostFileConfig {
  /** Path or URL, from the folder of the including document. */
  path: string
  patches?: Patch[]
  layers?: Layer[]
}

/** Parses a row list or a patch list in the loader's YAML dialect. Throws with line and column; anything but a list is an error. */
export function parseList(text: string, file: string): unknown[] {
  const data = load(text, { schema: entryListSchema, filename: file })
  if (!Array.isArray(data)) throw new TypeError(`${file} is not a list at its top level`)
  return data
}

export const layersOf = (config: HostFileConfig, file: string): Layer[] => [
  ...(config.patches ? [{ source: file, patches: config.patches }] : []),
  ...(config.layers ?? []),
]

/**
 * The tree of a row file: what `cordis:include` mounts. Unlike the kernel's own include it never writes the file, refuses
 * duplicate ids, hands patches on into included files, and keeps the last good tree when a reload fails.
 */
export class HostFile extends EntryTree {
  static readonly inject = ['loader']
  static readonly [EntryGroup.key] = true

  readonly filename: string
  readonly plane: Plane
  #config: HostFileConfig
  #rows: EntryOptions[] = []
  #text = ''

  constructor(ctx: Context, config: HostFileConfig) {
    super(ctx)
    this.#config = config
    this.filename = fileURLToPath(new URL(config.path, this.ctx.baseUrl))
    this.ctx.baseUrl = new URL('.', pathToFileURL(this.filename)).href
    const outer = ctx.fiber.entry?.parent.tree
    this.plane = outer && 'plane' in outer ? (outer.plane as Plane) : 'host'
    ctx.on('internal/update', (next: HostFileConfig, _noSave, restart) => {
      if (next.path !== this.#config.path) return restart()
      this.#config = next
      void this.#loader.track(this.#guarded(() => this.#mount()))
    })
  }

  get #loader(): HostLoader {
    return this.ctx.loader as HostLoader
  }

  async *[Service.init](): AsyncGenerator<() => void> {
    await this.#read()
    yield () => this.root.stop()
    await this.#mount()
  }

  override write(): void {}

  override import(name: string): Promise<unknown> {
    return this.#loader.load(name, this.ctx.baseUrl, this.plane)
  }

  /** Reads the file again when its text changed; a broken file leaves the running tree and is a notice. */
  refresh(): Promise<void> {
    return this.#loader.track(
      this.#guarded(async () => {
        if (await this.#read()) await this.#mount()
      }),
    )
  }

  async #read(): Promise<boolean> {
    const text = await readFile(this.filename, 'utf8')
    if (text === this.#text) return false
    this.#rows = parseList(text, this.filename) as EntryOptions[]
    this.#text = text
    return true
  }

  async #mount(): Promise<void> {
    const layers = layersOf(this.#config, this.filename)
    const rows = prepareRows(applyLayers(this.#rows, layers, (message) => this.#loader.notice(message)))
    await stopChanged(this, rows)
    await this.root.update(rows)
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#loader.notice(`${this.filename} could not be reloaded, the running rows stay: ${(error as Error).message}`)
    }
  }
}
