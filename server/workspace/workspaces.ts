import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync, statSync, type Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, parse, resolve, sep } from 'node:path'
import { CoreError } from '../wire/errors.ts'
import type { DirectoryListing, WorkspaceRow } from '../wire/views.ts'
import type { StateStore } from './state.ts'

const KEY = 'workspaces'
/** A directory browser shows this many folders at most; a longer list says that it was cut. */
const MAX_FOLDERS = 2_000

type Stored = { id: string; path: string; addedAt: number }

export interface WorkspacesOptions {
  dataDir: string
  state: StateStore
  home?: string
  now?: () => number
}

const idOf = (path: string) => createHash('sha256').update(path).digest('hex').slice(0, 12)

const inside = (path: string, folder: string) =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** Folders are compared by their real paths: a home or data folder behind a link is one all the same. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Not there (yet): nothing can be the same folder or lie in it.
    return path
  }
}

/** Undefined for what cannot be looked at, also when it vanishes this moment: one lost folder must not fail the whole list. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    // Missing, or behind a folder that may not be entered: unusable either way.
    return undefined
  }
}

/** The folders that sessions may work in, by real path. */
export class Workspaces {
  readonly #dataDir: string
  readonly #state: StateStore
  readonly #home: string
  readonly #now: () => number
  readonly #observers = new Set<() => void>()

  constructor(options: WorkspacesOptions) {
    this.#dataDir = options.dataDir
    this.#state = options.state
    this.#home = options.home ?? homedir()
    this.#now = options.now ?? Date.now
  }

  list(): WorkspaceRow[] {
    return this.#stored().map((row) => this.#view(row))
  }

  get(id: string): WorkspaceRow {
    const row = this.#stored().find((candidate) => candidate.id === id)
    if (row) return this.#view(row)
    throw new CoreError(
      'workspace/not-found',
      `There is no workspace "${id}". Add the folder first, then start the session.`,
      { workspace: id },
    )
  }

  /**
   * Registers a folder by its real path; adding one twice gives the same row.
   * Refuses what an agent should not own unless `confirmed`: the root, the home folder, the data folder and its parents.
   */
  async add(path: string, confirmed = false): Promise<WorkspaceRow> {
    const real = await this.#folder(path)
    const danger = this.#danger(real)
    if (danger && !confirmed)
      throw new CoreError(
        'workspace/invalid',
        `${real} is ${danger}. Choose a project folder inside it, or confirm that an agent may work there.`,
        {
          path: real,
          confirm: true,
        },
      )
    const row: Stored = { id: idOf(real), path: real, addedAt: this.#now() }
    this.#state.update<Stored[]>(KEY, (rows = []) =>
      rows.some((known) => known.id === row.id) ? rows : [...rows, row],
    )
    this.#changed()
    return this.#view(row)
  }

  /** Forgets the folder; sessions and files stay. */
  remove(id: string): void {
    this.get(id)
    this.#state.update<Stored[]>(KEY, (rows = []) => rows.filter((row) => row.id !== id))
    this.#changed()
  }

  /** The folder where the scripted demo works; made on first use, never listed by itself. */
  demo(): string {
    const path = join(this.#dataDir, 'demo-workspace')
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return path
  }

  async browse(path: string = this.#home): Promise<DirectoryListing> {
    const real = await this.#folder(path)
    const parent = dirname(real)
    const listing: DirectoryListing = { path: real, ...(parent !== real && { parent }), folders: [] }
    try {
      const entries = await readdir(real, { withFileTypes: true })
      for (const entry of entries) {
        if (entry.name.startsWith('.')) continue
        const full = join(real, entry.name)
        const isFolder =
          entry.isDirectory() ||
          (entry.isSymbolicLink() &&
            (await stat(full).then(
              (found) => found.isDirectory(),
              () => false,
            )))
        if (isFolder) listing.folders.push({ name: entry.name, path: full })
      }
    } catch (error) {
      listing.problem = `${real} cannot be listed: ${(error as Error).message}`
    }
    listing.folders.sort((a, b) => a.name.localeCompare(b.name))
    if (listing.folders.length > MAX_FOLDERS) {
      listing.folders.length = MAX_FOLDERS
      listing.problem = `Only the first ${MAX_FOLDERS} folders are shown. Type the path to reach another one.`
    }
    return listing
  }

  onChange(observer: () => void): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  #stored(): Stored[] {
    return (this.#state.get(KEY) as Stored[] | undefined) ?? []
  }

  #view(row: Stored): WorkspaceRow {
    const base = { id: row.id, path: row.path, name: basename(row.path) || row.path, addedAt: row.addedAt }
    const found = statOf(row.path)
    if (!found) return { ...base, problem: 'missing' }
    return found.isDirectory() ? base : { ...base, problem: 'not-a-folder' }
  }

  async #folder(path: string): Promise<string> {
    if (path.includes('\0')) throw new CoreError('workspace/invalid', 'A path cannot contain a NUL byte.')
    const expanded = path === '~' ? this.#home : path.startsWith('~/') ? join(this.#home, path.slice(2)) : path
    if (resolve(expanded) !== expanded && expanded !== parse(expanded).root && !expanded.startsWith('/'))
      throw new CoreError('workspace/invalid', `"${path}" is not an absolute path. Start with / or ~/.`, { path })
    try {
      const real = await realpath(expanded)
      if ((await stat(real)).isDirectory()) return real
    } catch (error) {
      throw new CoreError(
        'workspace/not-found',
        `${path} cannot be opened: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}. Check the path and its permissions.`,
        { path },
      )
    }
    throw new CoreError('workspace/invalid', `${path} is a file, not a folder. Choose the folder that holds it.`, {
      path,
    })
  }

  #danger(real: string): string | undefined {
    if (real === parse(real).root) return 'the root of the file system'
    if (real === realOf(this.#home)) return 'your home folder'
    const dataDir = realOf(this.#dataDir)
    if (inside(dataDir, real)) return 'the folder that holds all sessions and keys of this server'
    if (inside(real, dataDir)) return "inside this server's own data folder"
    return undefined
  }

  #changed(): void {
    for (const observer of this.#observers) observer()
  }
}
