import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from './kernel.ts'
import { exists, replaceFile, textOf } from './library-files.ts'
import type { PresetVersion } from '../wire/presets.ts'

/** Texts kept per document, and bytes of all of them. */
const MOST_VERSIONS = 50
const MOST_BYTES = 5 * 1024 * 1024

const VERSION = /^(\d{13})-([0-9a-f]{16})$/

/** What a version's name says of its text. */
const digestPart = (text: string): string => sha256(text).slice(0, 16)

/** The earlier texts of the own documents, one folder per document. Names: time in milliseconds, then the text's digest. */
export class History {
  readonly #folder: string
  readonly #now: () => number
  readonly #write: (path: string, text: string) => Promise<void>

  constructor(folder: string, now: () => number = Date.now, write = replaceFile) {
    this.#folder = folder
    this.#now = now
    this.#write = write
  }

  /** Keeps a text unless it is the newest already. Rejects when it could not be written. */
  async keep(document: string, text: string): Promise<void> {
    const [newest] = await this.#versions(document)
    const digest = digestPart(text)
    if (newest && newest.version.endsWith(digest)) return
    // Two texts in one millisecond, or a clock that went back: the newer one still comes later.
    const time = Math.max(this.#now(), (newest?.savedAt ?? 0) + 1)
    await this.#write(this.#path(document, `${String(time).padStart(13, '0')}-${digest}`), text)
    await this.#prune(document)
  }

  /** Newest first, without the text that stands in the document now. */
  async list(document: string, current?: string): Promise<PresetVersion[]> {
    const versions = await this.#versions(document)
    const digest = current === undefined ? undefined : digestPart(current)
    return versions.filter(({ version }) => digest === undefined || !version.endsWith(digest))
  }

  async text(document: string, version: string): Promise<string | undefined> {
    return VERSION.test(version) ? textOf(this.#path(document, version)) : undefined
  }

  #path(document: string, version: string): string {
    return join(this.#folder, document, `${version}.yml`)
  }

  async #versions(document: string): Promise<PresetVersion[]> {
    const folder = join(this.#folder, document)
    if (!(await exists(folder))) return []
    const names = (await readdir(folder)).map((name) => name.replace(/\.yml$/, ''))
    const found = names
      .filter((name) => VERSION.test(name))
      .toSorted()
      .toReversed()
    return Promise.all(
      found.map(async (version) => {
        const { size } = await stat(this.#path(document, version))
        return { version, savedAt: Number(VERSION.exec(version)![1]), bytes: size }
      }),
    )
  }

  async #prune(document: string): Promise<void> {
    let bytes = 0
    for (const [index, { version, bytes: size }] of (await this.#versions(document)).entries()) {
      bytes += size
      if (index > 0 && (index >= MOST_VERSIONS || bytes > MOST_BYTES)) await rm(this.#path(document, version))
    }
  }
}
