import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CoreError } from '../wire/errors.ts'
import { checkText, readText } from './check.ts'
import { notFound } from './errors.ts'
import { sha256 } from './kernel.ts'
import { changedMeanwhile, editing, notAnId, notOwn, notSaved, refused, taken } from './library-errors.ts'
import { NEW_ID, exists, replaceFile, requireInside, stemOf, textOf } from './library-files.ts'
import { History } from './library-history.ts'
import { documentOf, withKeys } from './library-text.ts'
import { knowledgeOf, ofCatalog, vocabularyOf } from './vocabulary.ts'
import type { DryRun, PresetCheck, PresetSource, PresetVocabulary } from '../wire/presets.ts'
import type { CheckWorld, Trial } from './check.ts'
import type { BrokenDocument, Documents, PresetDocument } from './library-documents.ts'
import type { Catalog, Load } from './loader.ts'

/** What the library needs of the registry. */
export interface LibraryRegistry {
  list(): { id: string }[]
  generationOf(id: string): number
  describe(id: string): Promise<DryRun>
  trial: Trial
  settled(): Promise<void>
}

export interface LibraryOptions {
  documents: Documents
  registry: LibraryRegistry
  catalog: Catalog
  load: Load
  /** Applies the files as they are now to the running host. */
  reload(): Promise<unknown>
  warn?(message: string): void
  now?(): number
  write?(path: string, text: string): Promise<void>
  remove?(path: string): Promise<void>
}

/** Null takes a text out, absent leaves it. */
export interface DisplayTexts {
  name?: string | null | undefined
  description?: string | null | undefined
  order?: number | null | undefined
}

/**
 * The documents behind the presets: those of the data folder can be written, the others can be read and copied. One change
 * at a time; each is on the disk and in force when it resolves. Rejects CoreErrors `agent-preset/*`.
 */
export class PresetLibrary {
  readonly #options: LibraryOptions
  readonly #history: History
  readonly #write: (path: string, text: string) => Promise<void>
  readonly #world: CheckWorld
  readonly #observers = new Set<() => void>()
  /** Digests of what was deleted while this host ran: taken back as it was, sound or not. */
  readonly #deleted = new Set<string>()
  #queue: Promise<unknown> = Promise.resolve()
  #closed = false
  #vocabulary: Promise<PresetVocabulary> | undefined

  constructor(options: LibraryOptions) {
    this.#options = options
    const { documents, registry, catalog, load, now, write = replaceFile } = options
    this.#write = write
    this.#history = new History(join(documents.folder, '.history'), now, write)
    const baseUrl = pathToFileURL(`${documents.folder}/`).href
    this.#world = {
      known: knowledgeOf(catalog, load, baseUrl),
      baseUrl,
      trial: (declaration, base) => registry.trial(declaration, base),
      // One that cannot be used has no active side to compare with.
      active: async (preset) => {
        if (!registry.list().some(({ id }) => id === preset)) return undefined
        return registry.describe(preset).catch(() => undefined)
      },
    }
  }

  /** Own documents that the registry knows nothing of; `onChange` tells of changes. For rosters. */
  problems(): BrokenDocument[] {
    return this.#options.documents.broken()
  }

  onChange(observer: () => void): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  /** A document was read, changed or went: what it says is kept, also when it was written by another program. */
  async noted(): Promise<void> {
    if (this.#closed) return
    for (const observer of this.#observers) observer()
    await this.#one(async () => {
      for (const { filename, text } of this.#options.documents.ownTexts()) await this.#remember(filename, text)
    })
  }

  /** Resolves when every change that was begun is on the disk; nothing is kept after that. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#queue
  }

  /** Without `trial` no module that the text names is imported and nothing of it runs. */
  check(text: string, preset?: string, trial = true): Promise<PresetCheck> {
    const { trial: _trial, known, ...world } = this.#world
    return checkText(text, trial ? this.#world : { ...world, known: ofCatalog(known) }, preset)
  }

  vocabulary(): Promise<PresetVocabulary> {
    this.#vocabulary ??= vocabularyOf(this.#options.catalog)
    return this.#vocabulary
  }

  /** The document as it stands on the disk, and its earlier texts. */
  async source(preset: string): Promise<PresetSource> {
    const { file, own, text } = await this.#read(this.#find(preset))
    const versions = own ? await this.#history.list(stemOf(file), text) : []
    return { preset, own, file, text, digest: sha256(text), versions }
  }

  /** An earlier text. Rejects `gateway/not-found`. */
  async version(preset: string, version: string): Promise<string> {
    const { file, own } = this.#find(preset)
    const text = own ? await this.#history.text(stemOf(file), version) : undefined
    if (text !== undefined) return text
    throw new CoreError('gateway/not-found', `There is no version ${JSON.stringify(version)} of the preset ${preset}.`)
  }

  /** A new own document with the rows and comments of another. Without `name` it is shown by its id. */
  copy(from: string, id: string, name?: string): Promise<{ preset: string }> {
    return this.#one(async () => {
      await this.#requireFree(id)
      const { text } = await this.#read(this.#find(from))
      const next = editing(from, () => withKeys(text, { row: { id }, config: { id, name } }))
      await this.#create(id, next)
      return { preset: id }
    })
  }

  /** A whole document from elsewhere, or one that was deleted; `id` replaces the one that it declares. */
  import(text: string, id?: string): Promise<{ preset: string }> {
    return this.#one(async () => {
      const { found, preset: declared } = await readText(text, this.#world.known)
      const back = this.#deleted.has(sha256(text))
      if (found.failed && !back) throw refused(id ?? declared ?? '', 'imported', found.list)
      const wanted = id ?? declared
      if (wanted === undefined)
        throw new CoreError('agent-preset/invalid', 'The document does not say its id. Give it one.', {
          reason: 'no id',
        })
      await this.#requireFree(wanted)
      const next = declared === undefined || declared === wanted ? text : withKeys(text, { config: { id: wanted } })
      await this.#create(wanted, next)
      return { preset: wanted }
    })
  }

  /**
   * Replaces the text of an own document and puts it in force. Only when the file still has the text with the digest
   * `base`, and only a text that a trial could mount.
   */
  save(preset: string, text: string, base: string): Promise<{ preset: string; digest: string; generation: number }> {
    return this.#one(async () => {
      const document = await this.#own(preset)
      if (sha256(document.text) !== base) throw changedMeanwhile(preset, sha256(document.text))
      const check = await checkText(text, this.#world, document.declared ? preset : undefined)
      if (check.diagnostics.some(({ severity }) => severity === 'error'))
        throw refused(preset, 'saved', check.diagnostics)
      const id = check.preset ?? preset
      if (id !== preset) await this.#requireFree(id, document.file)
      await this.#replace(document, text)
      return { preset: id, digest: sha256(text), generation: this.#options.registry.generationOf(id) }
    })
  }

  /** Changes what lists show of an own preset; comments, order of keys and expressions stay as they are. */
  describe(preset: string, texts: DisplayTexts): Promise<{ preset: string }> {
    return this.#one(async () => {
      const document = await this.#own(preset)
      const given = Object.entries(texts).filter(([, value]) => value !== undefined)
      const config = Object.fromEntries(given.map(([key, value]) => [key, value ?? undefined]))
      const next = editing(preset, () => withKeys(document.text, { config }))
      if (next !== document.text) await this.#replace(document, next)
      return { preset }
    })
  }

  /** Takes an own document away. Sessions in it keep what they have; the text brings it back through `import`. */
  delete(preset: string): Promise<{ preset: string; text: string }> {
    return this.#one(async () => {
      const { file, text } = await this.#own(preset)
      const { remove = rm } = this.#options
      await this.#history
        .keep(stemOf(file), text)
        .then(() => remove(file))
        .catch((error: unknown) => {
          throw notSaved(error)
        })
      this.#deleted.add(sha256(text))
      await this.#reload()
      return { preset, text }
    })
  }

  #one<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(work)
    this.#queue = run.catch(() => {
      // Its caller has this error; the next change is not concerned.
    })
    return run
  }

  #find(preset: string): PresetDocument {
    const { documents, registry } = this.#options
    const found = documents.find(preset)
    if (found) return found
    throw notFound(
      preset,
      registry.list().map(({ id }) => id),
    )
  }

  async #read(document: PresetDocument): Promise<PresetDocument & { text: string }> {
    const { file, own, preset } = document
    if (own) await requireInside(this.#options.documents.folder, file)
    const text = await textOf(file)
    if (text === undefined)
      throw notFound(
        preset,
        this.#options.registry.list().map(({ id }) => id),
      )
    return { ...document, text: own ? text : documentOf(text, preset) }
  }

  async #own(preset: string): Promise<PresetDocument & { text: string }> {
    const document = this.#find(preset)
    if (document.own) return this.#read(document)
    throw notOwn(preset)
  }

  /** `but`: a file that may have the name. */
  async #requireFree(id: string, but?: string): Promise<void> {
    if (!NEW_ID.test(id)) throw notAnId(id)
    const { documents, registry } = this.#options
    const files = ['yml', 'yaml']
      .map((extension) => join(documents.folder, `${id}.${extension}`))
      .filter((file) => file !== but)
    const used = (await Promise.all(files.map(exists))).includes(true)
    if (!used && !registry.list().some((row) => row.id === id)) return
    throw taken(id)
  }

  async #create(id: string, text: string): Promise<void> {
    const file = join(this.#options.documents.folder, `${id}.yml`)
    await this.#put(file, text)
  }

  async #replace({ file, text: before }: PresetDocument & { text: string }, text: string): Promise<void> {
    // First the old text in its safe place: what a full disk refuses has then changed nothing.
    await this.#history.keep(stemOf(file), before).catch((error: unknown) => {
      throw notSaved(error)
    })
    await this.#put(file, text)
  }

  async #put(file: string, text: string): Promise<void> {
    await this.#write(file, text).catch((error: unknown) => {
      throw notSaved(error)
    })
    await this.#remember(file, text)
    await this.#reload()
  }

  async #remember(file: string, text: string): Promise<void> {
    await this.#history.keep(stemOf(file), text).catch((error: unknown) => {
      this.#options.warn?.(`the text of ${file} could not be kept among its versions: ${(error as Error).message}`)
    })
  }

  async #reload(): Promise<void> {
    await this.#options.reload()
    await this.#options.registry.settled()
  }
}
