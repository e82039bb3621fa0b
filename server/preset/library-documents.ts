import { basename, dirname } from 'node:path'
import { rowProblem, rowState } from './audit.ts'
import { HostFile } from './file.ts'
import { stemOf } from './library-files.ts'
import { PRESET_ROW } from './rows.ts'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import type { HostLoader } from './loader.ts'

/** A document that declares a preset, or was meant to. */
export interface PresetDocument {
  preset: string
  file: string
  /** It lies in the data folder, so its user may edit it. */
  own: boolean
  /** The preset is in the roster; otherwise the file's name stands for an id. */
  declared: boolean
}

/** An own document that declares nothing that the registry knows: nobody else would show it. */
export interface BrokenDocument {
  id: string
  file: string
  /** Names the file, and the line where it is known. */
  reason: string
}

const idOf = (entry: Entry): string | undefined => {
  const { id } = (entry.options.config ?? {}) as { id?: unknown }
  return typeof id === 'string' ? id : undefined
}

function* filesOf(loader: HostLoader): Generator<HostFile> {
  for (const { subtree } of loader.entries()) if (subtree instanceof HostFile) yield subtree
}

const declaringRows = (file: HostFile): Entry[] =>
  Object.values(file.store).filter(({ options }) => options.name === PRESET_ROW)

/** The registry has it, or is about to. */
const isDeclared = (entry: Entry): boolean => ['active', 'starting'].includes(rowState(entry).state)

/** The row files of a running host, looked at as documents of presets. */
export class Documents {
  readonly #loader: HostLoader
  readonly folder: string

  constructor(loader: HostLoader, folder: string) {
    this.#loader = loader
    this.folder = folder
  }

  isOwn(file: string): boolean {
    return dirname(file) === this.folder
  }

  find(preset: string): PresetDocument | undefined {
    for (const file of filesOf(this.#loader)) {
      if (!declaringRows(file).some((row) => idOf(row) === preset && isDeclared(row))) continue
      return { preset, file: file.filename, own: this.isOwn(file.filename), declared: true }
    }
    const broken = this.broken().find(({ id }) => id === preset)
    return broken && { preset, file: broken.file, own: true, declared: false }
  }

  /** The files in the data folder whose text declares nothing usable, and never did while this host ran. */
  broken(): BrokenDocument[] {
    const declared = new Set<string>()
    const files = [...filesOf(this.#loader)]
    for (const file of files) for (const row of declaringRows(file).filter(isDeclared)) declared.add(idOf(row) ?? '')
    return files.flatMap((file) => {
      const problem = this.isOwn(file.filename) ? problemOf(file) : undefined
      if (problem === undefined) return []
      const stem = stemOf(file.filename)
      // A shipped preset of that id stands in the roster already.
      return [{ id: declared.has(stem) ? basename(file.filename) : stem, file: file.filename, reason: problem }]
    })
  }

  /** The texts of own documents as they were last read, by file. */
  *ownTexts(): Generator<HostFile & { text: string }> {
    for (const file of filesOf(this.#loader))
      if (this.isOwn(file.filename) && file.text !== undefined) yield file as HostFile & { text: string }
  }
}

function problemOf(file: HostFile): string | undefined {
  const rows = declaringRows(file)
  if (rows.some(isDeclared)) return undefined
  const place = (line?: number): string => `${basename(file.filename)}${line === undefined ? '' : `:${line}`}`
  if (file.fault) return `${place(file.fault.line)}: ${file.fault.message}`
  const reasons = Object.values(file.store).flatMap((row) => {
    const reason = rowProblem(rowState(row))
    return reason === undefined ? [] : [reason]
  })
  return `${place()}: ${reasons.join('\n') || 'the document declares no preset'}`
}
