import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { HOST_FILE, readLayers } from './boot-files.ts'
import { catalogOf } from './boot.ts'
import { dumpRows } from './preset/document.ts'
import { layersOf, parseList } from './preset/file.ts'
import { applyLayers } from './preset/patch.ts'
import { INCLUDE, flatRows } from './preset/rows.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { BootOptions } from './boot.ts'
import type { HostFileConfig } from './preset/file.ts'
import type { Layer } from './preset/patch.ts'

/** One YAML document per file, its effective rows under all patches; expressions stay expressions. */
async function dumpFile(
  file: string,
  layers: readonly Layer[],
  root: string,
  warn: (message: string) => void,
): Promise<string[]> {
  const title = relative(root, file).startsWith('..') ? file : relative(root, file)
  let rows
  try {
    rows = applyLayers(parseList(await readFile(file, 'utf8'), file) as EntryOptions[], layers, warn)
  } catch (error) {
    warn(`${file}: ${(error as Error).message}`)
    return []
  }
  const included: string[] = []
  for (const row of flatRows(rows)) {
    if (row.name !== INCLUDE) continue
    const config = row.config as HostFileConfig
    const path = fileURLToPath(new URL(config.path, pathToFileURL(`${dirname(file)}/`)))
    included.push(...(await dumpFile(path, layersOf(config, path), root, warn)))
    // Already applied below, and not a key that a person may write.
    delete (row.config as Partial<HostFileConfig>).layers
  }
  return [`# ${title}\n${dumpRows(rows)}`, ...included]
}

/** The effective rows of the host and its documents as YAML text, and what was passed over while making it. */
export async function dumpConfig(options: BootOptions): Promise<{ text: string; warnings: string[] }> {
  const warnings: string[] = []
  const root = resolve(options.rootDir)
  const { layers, skipped } = await readLayers(options, catalogOf(options))
  for (const { file, line, cause } of skipped)
    warnings.push(`patch left out: ${file}${line ? `:${line}` : ''}: ${cause}`)
  const documents = await dumpFile(join(root, HOST_FILE), layers, root, (message) => warnings.push(message))
  return { text: documents.join('---\n'), warnings }
}
