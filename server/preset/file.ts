import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Service } from '@deepseek-ai/cordis'
import { entryListSchema } from '@deepseek-ai/cordis-plugin-include'
import { EntryGroup, EntryTree } from '@deepseek-ai/cordis-plugin-loader'
import { load } from 'js-yaml'
import { DocumentError, MAX_BYTES, declarationFault, faultOf, isPresetDocument, refuseBombs } from './fault.ts'
import { HostLoader, standIn } from './loader.ts'
import { applyLayers } from './patch.ts'
import { INCLUDE, prepareRows, stopChanged, unknownKeys } from './rows.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { Fault } from './fault.ts'
import type { Plane } from './loader.ts'
import type { Layer, Patch } from './patch.ts'

export interface HostFileConfig {
  /** Path or URL, from the folder of the including document. */
  path: string
  patches?: Patch[]
  layers?: Layer[]
}

/**
 * Parses a row list or a patch list in the loader's YAML dialect. Throws with line and column; anything but a list is an
 * error, and so is one that stands for far more than it says.
 */
export function parseList(text: string, file: string): unknown[] {
  const data = load(text, { schema: entryListSchema, filename: file })
  if (!Array.isArray(data)) throw new TypeError(`${file} is not a list at its top level`)
  refuseBombs(data)
  return data
}

export const layersOf = (config: HostFileConfig, file: string): Layer[] => [
  ...(config.patches ? [{ source: file, patches: config.patches }] : []),
  ...(config.layers ?? []),
]

/** A document stands where its include row stands: in the host, or among the rows of a preset. */
function planeBelow(outer: EntryTree | undefined): Plane {
  if (outer instanceof HostFile) return outer.plane
  return outer === undefined || outer instanceof HostLoader ? 'host' : 'preset'
}

/** Names the plugin of a row that may not start; what follows is the row's id. */
const REFUSED = 'refused:'

/**
 * The tree of a row file: what `cordis:include` mounts. Unlike the kernel's own include it never writes the file, refuses
 * duplicate ids, hands patches on into included files, and keeps the last good tree when the file stops making sense.
 */
export class HostFile extends EntryTree {
  static readonly inject = ['loader']
  static readonly [EntryGroup.key] = true

  readonly filename: string
  readonly plane: Plane
  /**
   * What is wrong with the file right now; the rows of its last good text keep running. A declaring row finds its file as
   * `entry.parent.tree`, and `HostLoader.onDocument` tells of every change.
   */
  fault: Fault | undefined
  /** False until a text of the file could be mounted. */
  mounted = false
  /** As last read; undefined when it could not be read. */
  text: string | undefined
  #config: HostFileConfig
  #rows: EntryOptions[] = []
  /** The running rows declare presets, and soundly: worth keeping over a text that does not. */
  #declares = false
  readonly #first = Promise.withResolvers<void>()
  readonly #refused = new Map<string, { name: string; reason: string }>()

  constructor(ctx: Context, config: HostFileConfig) {
    super(ctx)
    this.#config = config
    this.filename = fileURLToPath(new URL(config.path, this.ctx.baseUrl))
    this.ctx.baseUrl = new URL('.', pathToFileURL(this.filename)).href
    const outer = ctx.fiber.entry?.parent.tree
    this.plane = planeBelow(outer)
    ctx.on('internal/update', (next: HostFileConfig, _noSave, restart) => {
      if (next.path !== this.#config.path) return restart()
      this.#config = next
      void this.#loader.track(this.#guarded(() => this.#remount()))
    })
  }

  get #loader(): HostLoader {
    return this.ctx.loader as HostLoader
  }

  async *[Service.init](): AsyncGenerator<() => void> {
    yield () => {
      this.#first.resolve()
      this.root.stop()
      this.#loader.documentMoved(this)
    }
    await this.#afterEarlierFiles()
    await this.#guarded(() => this.#read())
    this.#first.resolve()
  }

  /** Of two documents that declare one id the earlier has it, however long the reading of each takes. */
  async #afterEarlierFiles(): Promise<void> {
    const { entry } = this.ctx.fiber
    if (!entry) return
    for (const { id } of entry.parent.data) {
      if (id === entry.options.id) return
      const earlier = entry.parent.tree.store[id]
      if (earlier?.options.name !== INCLUDE) continue
      await earlier._initTask
      if (earlier.subtree instanceof HostFile && earlier.fiber?.uid) await earlier.subtree.#first.promise
    }
  }

  override write(): void {}

  override import(name: string): Promise<unknown> {
    const refused = name.startsWith(REFUSED) ? this.#refused.get(name.slice(REFUSED.length)) : undefined
    if (refused) return Promise.resolve(standIn(refused.name, refused.reason))
    return this.#loader.load(name, this.ctx.baseUrl, this.plane)
  }

  /** Reads the file again when its text changed. Never rejects: what is wrong is in `fault`, and a notice. */
  refresh(): Promise<void> {
    return this.#loader.track(this.#guarded(() => this.#read()))
  }

  /** The row's own name, also where the row was kept from starting. */
  nameOf(row: EntryOptions): string {
    return row.name.startsWith(REFUSED) ? (this.#refused.get(row.id)?.name ?? row.name) : row.name
  }

  async #read(): Promise<void> {
    const { size } = await stat(this.filename)
    if (size > MAX_BYTES) throw new DocumentError({ message: `the document is larger than ${MAX_BYTES / 1024} KiB` })
    const text = await readFile(this.filename, 'utf8')
    if (text === this.text && !this.fault) return
    this.text = text
    const before = this.#rows
    this.#rows = parseList(text, this.filename) as EntryOptions[]
    try {
      await this.#mount()
    } catch (error) {
      this.#rows = before
      throw error
    }
  }

  /** The last good text under other patches; the fault of the present one stays until it is read again. */
  async #remount(): Promise<void> {
    const { fault } = this
    await this.#mount()
    if (fault) throw new DocumentError(fault)
  }

  /** Throws without touching the running rows when the new ones are not fit to replace them. */
  async #mount(): Promise<void> {
    const layers = layersOf(this.#config, this.filename)
    const rows = prepareRows(applyLayers(this.#rows, layers, (message) => this.#loader.notice(message)))
    const declares = isPresetDocument(rows)
    const fault = declares || this.#declares ? declarationFault(rows, this.text ?? '') : undefined
    if (fault && this.#declares) throw new DocumentError(fault)
    const started = this.#startable(rows)
    await stopChanged(this, started)
    await this.root.update(started)
    this.mounted = true
    this.#declares = declares && !fault
  }

  /** A row with a key that no row has says why instead of starting; the others are not concerned. */
  #startable(rows: readonly EntryOptions[]): EntryOptions[] {
    return rows.map((row) => {
      const reason = unknownKeys(row)
      if (reason !== undefined) {
        this.#refused.set(row.id, { name: row.name, reason })
        return { id: row.id, name: `${REFUSED}${row.id}` }
      }
      if (!row.group || !Array.isArray(row.config)) return row
      return { ...row, config: this.#startable(row.config as EntryOptions[]) }
    })
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    const { text, fault } = this
    try {
      await work()
      this.fault = undefined
    } catch (error) {
      this.fault = faultOf(error)
      // At the start the row itself is reported.
      if (this.mounted) this.#loader.notice(staleNotice(this.filename, this.fault))
    }
    if (text !== this.text || JSON.stringify(fault) !== JSON.stringify(this.fault)) this.#loader.documentMoved(this)
  }
}

const staleNotice = (file: string, { message, line }: Fault): string =>
  `${file}${line === undefined ? '' : `:${line}`} could not be reloaded, the running rows stay: ${message}`
