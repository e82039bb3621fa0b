import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readLayer, userDocuments, USER_PATCH, USER_PRESETS } from './boot-layers.ts'
import { parseList } from './preset/file.ts'
import { applyLayers } from './preset/patch.ts'
import { flatRows } from './preset/rows.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { BootOptions } from './boot.ts'
import type { SkippedFile } from './boot-layers.ts'
import type { Layers } from './boot-user.ts'
import type { Catalog } from './preset/loader.ts'
import type { Layer } from './preset/patch.ts'

export const HOST_FILE = 'core-web.cordis.yml'

/** A host row's config, read from the files at this moment. */
export interface Inherited {
  /** Without the user's patch file. */
  config: unknown
  /** With it. */
  present: unknown
  /** The later source that sets it over the user's. */
  overriddenBy?: string
  /** Why the user's patch file cannot be read. */
  fault?: string
}

/** The layers over the host file, lowest first, and the patch files that had to be left out. */
export async function readLayers(options: BootOptions, catalog: Catalog): Promise<Layers> {
  const text = await readFile(join(options.rootDir, HOST_FILE), 'utf8').catch(() => '[]')
  const layers: Layer[] = []
  const skipped: SkippedFile[] = []
  layers.push(await userDocuments(options.dataDir, new Set(idsIn(text))))
  const files = [join(options.dataDir, USER_PATCH), ...options.flags.patch.map((file) => resolve(file))]
  for (const [index, file] of files.entries()) {
    const read = await readLayer(catalog, file, index === 0 ? 'allowed' : 'refused')
    if (!read) continue
    if ('patches' in read) layers.push(read)
    else skipped.push(read)
  }
  if (options.patches) layers.push({ source: '(boot)', patches: options.patches })
  return { layers: layers.filter(({ patches }) => patches.length > 0), skipped }
}

export async function inheritedConfig(options: BootOptions, catalog: Catalog, id: string): Promise<Inherited> {
  const file = join(options.rootDir, HOST_FILE)
  const userPatch = join(options.dataDir, USER_PATCH)
  const { layers, skipped } = await readLayers(options, catalog)
  const user = layers.findIndex(({ source }) => source === userPatch)
  const lower = join(options.dataDir, USER_PRESETS)
  const later = user < 0 ? layers.filter(({ source }) => source !== lower) : layers.slice(user + 1)
  const overriding = later.findLast(({ patches }) => patches.some((patch) => patch.id === id && 'config' in patch))
  const fault = skipped.find((one) => one.file === userPatch)
  const text = await readFile(file, 'utf8')
  const configUnder = (over: Layer[]): unknown => {
    const rows = applyLayers(parseList(text, file) as EntryOptions[], over, () => {})
    return [...flatRows(rows)].find((candidate) => candidate.id === id)?.config
  }
  return {
    config: configUnder(layers.filter((_layer, index) => index !== user)),
    present: configUnder(layers),
    ...(overriding && { overriddenBy: overriding.source }),
    ...(fault && { fault: fault.cause }),
  }
}

function idsIn(text: string): string[] {
  try {
    return [...flatRows(parseList(text, HOST_FILE) as EntryOptions[])].map(({ id }) => id)
  } catch {
    // The host file's own row reports the parse error, with its line.
    return []
  }
}
