import { createRequire, findPackageJSON } from 'node:module'
import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Loader } from '@deepseek-ai/cordis-plugin-loader'
import type { Context } from '@deepseek-ai/cordis'
import type { HostFile } from './file.ts'

/** Where a row may stand: the host file, a preset, or both. Plane `preset` = it changes what a model reads or may call. */
export type Plane = 'host' | 'preset'

export interface CatalogEntry {
  plane: Plane | 'any'
  /** One line about the row, for people who write presets. */
  about?: string
  load(): Promise<unknown>
}
export type Catalog = Readonly<Record<string, CatalogEntry>>

/** Never rejects: a module that cannot be had answers as a plugin that throws the reason when it is applied. */
export type Load = (name: string, baseUrl: string | undefined, plane: Plane) => Promise<unknown>

const failures = new WeakMap<object, Error>()

/** Why the plugin behind this callback could not be imported; undefined for a real plugin. */
export const importError = (callback: object | undefined): Error | undefined => callback && failures.get(callback)

/** A plugin that only says why the real one may not run. */
export function standIn(name: string, message: string, cause?: unknown): { name: string; apply(): never } {
  const error = new Error(message, { cause })
  const apply = (): never => {
    throw error
  }
  failures.set(apply, error)
  return { name, apply }
}

/** Why a row of this name may not stand on this plane; undefined when it may. Names outside the catalog may stand anywhere. */
export function planeProblem(catalog: Catalog, name: string, plane: Plane): string | undefined {
  const entry = Object.hasOwn(catalog, name) ? catalog[name] : undefined
  if (!entry || entry.plane === 'any' || entry.plane === plane) return undefined
  return plane === 'host'
    ? `${name} is a model-facing row; only a preset may carry it, not the host file or a patch at host level`
    : `${name} is a host row; a preset may not carry it`
}

interface Exports {
  import?: string | { default?: string }
}

/** The entry file of an installed package, looked up from the document that names it. */
function packageUrl(name: string, baseUrl: string): string {
  try {
    return pathToFileURL(createRequire(baseUrl).resolve(name)).href
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
    // The package has an `import` condition only, which the CommonJS resolver cannot follow.
    const manifest = findPackageJSON(name, baseUrl)
    if (!manifest) throw error
    const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports?: Exports & { '.'?: Exports } }
    const condition = (exports?.['.'] ?? exports)?.import
    const target = typeof condition === 'string' ? condition : condition?.default
    if (!target) throw error
    return new URL(target, pathToFileURL(manifest)).href
  }
}

async function moduleOf(catalog: Catalog, name: string, baseUrl: string | undefined): Promise<unknown> {
  if (Object.hasOwn(catalog, name)) return catalog[name]!.load()
  if (name.startsWith('.') || name.includes('://')) return import(new URL(name, baseUrl).href)
  if (!baseUrl) throw new Error('not in the catalog')
  let url
  try {
    url = packageUrl(name, baseUrl)
  } catch (cause) {
    const place = fileURLToPath(baseUrl)
    throw new Error(`neither in the catalog nor an installed package as seen from ${place}`, { cause })
  }
  return import(url)
}

const isPlugin = (value: unknown): boolean =>
  typeof value === 'function' ||
  (typeof value === 'object' && value !== null && 'apply' in value && typeof value.apply === 'function')

/** Resolves row names: catalog first, then relative paths and URLs, then packages, from the document's own folder. */
export const importer =
  (catalog: Catalog): Load =>
  async (name, baseUrl, plane) => {
    const problem = planeProblem(catalog, name, plane)
    if (problem) return standIn(name, problem)
    try {
      const module = (await moduleOf(catalog, name, baseUrl)) as { default?: unknown } | undefined
      const found = module?.default ?? module
      if (!isPlugin(found)) throw new Error('the module exports no plugin')
      return found
    } catch (error) {
      return standIn(name, `cannot import ${name}: ${(error as Error).message}`, error)
    }
  }

/** The root tree of one host. It imports through the host's own catalog and knows what is still being applied. */
export class HostLoader extends Loader {
  readonly load: Load
  /** Updates of included files that Cordis itself does not await. */
  readonly updates = new Set<Promise<void>>()
  /** Told of what was passed over in a file: a patch without a target, a reload that failed. */
  notice: (message: string) => void = () => {}
  readonly documentObservers = new Set<(file: HostFile) => void>()

  constructor(ctx: Context, config: Loader.Config & { load: Load }) {
    super(ctx, config)
    this.load = config.load
    ctx.on(
      'internal/update',
      (_config, _noSave, next) => {
        // Fiber.update drops this promise: without a handler a throwing `apply` ends the process. The error stays on the fiber.
        const restart: unknown = next()
        if (restart instanceof Promise) restart.catch(() => {})
        return restart
      },
      { global: true, prepend: true },
    )
  }

  override import(name: string): Promise<unknown> {
    return this.load(name, this.ctx.baseUrl, 'host')
  }

  /** Hears of every row file that was read, got or lost a fault, or went. */
  onDocument(observer: (file: HostFile) => void): () => void {
    this.documentObservers.add(observer)
    return () => void this.documentObservers.delete(observer)
  }

  documentMoved(file: HostFile): void {
    for (const observer of this.documentObservers) observer(file)
  }

  track(update: Promise<void>): Promise<void> {
    this.updates.add(update)
    return update.finally(() => this.updates.delete(update))
  }

  /** Resolves when no row is being imported, started, stopped or updated. */
  async settled(): Promise<void> {
    do {
      await Promise.allSettled(this.updates)
      await this.await()
    } while (this.updates.size > 0)
  }
}
