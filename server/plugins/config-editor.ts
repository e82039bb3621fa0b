import './context.ts'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { resolveConfig } from '@deepseek-ai/cordis'
import { interpolate } from '@deepseek-ai/cordis-plugin-loader'
import { STATE, plugin } from '../preset/kernel.ts'
import { replaceFile, textOf } from '../preset/library-files.ts'
import { withLock } from '../settings/file-lock.ts'
import { withOverride } from '../settings/patch-file.ts'
import { CoreError } from '../wire/errors.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import type { HostRows } from '../boot.ts'

type Config = Readonly<Record<string, unknown>>

const LOCK = 'settings.lock'

const refused = (row: string, reason: string, cause?: unknown): CoreError =>
  new CoreError('settings/not-saved', `The setting of row ${row} was not saved: ${reason}`, { row }, { cause })

export interface ConfigEditorOptions {
  /** Replaces a file all or nothing. */
  replace?: (path: string, text: string) => Promise<void>
  /** How long another process may hold the file (ms). */
  patienceMs?: number
}

/**
 * Edits the config of host rows in the user's patch file, and only there. One edit at a time, over all processes of one data
 * folder.
 */
export class ConfigEditor {
  readonly #ctx: Context
  readonly #rows: HostRows
  readonly #options: ConfigEditorOptions
  #queue: Promise<unknown> = Promise.resolve()

  constructor(ctx: Context, rows: HostRows, options: ConfigEditorOptions = {}) {
    this.#ctx = ctx
    this.#rows = rows
    this.#options = options
  }

  /**
   * Derives the row's next config from what the files say now, as written and with its expressions evaluated; checks it
   * against the running plugin, writes and reloads. A config equal to the inherited one takes the override out. When the row
   * does not take it, the old file is put back. Rejects CoreError `settings/not-saved`; what `derive` throws goes through.
   */
  edit(row: string, derive: (config: Config, evaluated: Config) => Config): Promise<void> {
    const edit = this.#queue.then(() => this.#locked(row, derive))
    this.#queue = edit.catch(() => {
      // The caller has this error; the next edit is not concerned.
    })
    return edit
  }

  async #locked(row: string, derive: (config: Config, evaluated: Config) => Config): Promise<void> {
    this.#active(row)
    let thrown: { error: unknown } | undefined
    const judged = (config: Config, evaluated: Config): Config => {
      try {
        return derive(config, evaluated)
      } catch (error) {
        thrown = { error }
        throw error
      }
    }
    try {
      const lock = join(dirname(this.#rows.userPatch), LOCK)
      await withLock(lock, () => this.#edit(row, judged), this.#options.patienceMs)
    } catch (error) {
      if (thrown) throw thrown.error
      throw error instanceof CoreError ? error : refused(row, (error as Error).message, error)
    }
  }

  async #edit(row: string, derive: (config: Config, evaluated: Config) => Config): Promise<void> {
    const { userPatch } = this.#rows
    const { replace = replaceFile } = this.#options
    // Not what runs: another process, or an editor, may have written since it was read.
    const { config, present, overriddenBy, fault } = await this.#rows.inherited(row)
    if (fault !== undefined) throw refused(row, `${userPatch} cannot be read: ${fault}. Repair the file first.`)
    if (overriddenBy !== undefined) throw refused(row, `${overriddenBy} sets it and comes after the user's settings.`)
    const before = await textOf(userPatch)
    const next = this.#derived(row, (present ?? {}) as Config, derive)
    const text = withOverride(before ?? '', row, isDeepStrictEqual(config ?? {}, next) ? undefined : next)
    if (text !== (before ?? '')) await replace(userPatch, text)
    try {
      await this.#reload(row)
    } catch (error) {
      if (before === undefined) await rm(userPatch, { force: true })
      else await replace(userPatch, before)
      await this.#rows.reload()
      throw refused(row, (error as Error).message, error)
    }
  }

  /** The next config, which the running plugin takes. */
  #derived(row: string, present: Config, derive: (config: Config, evaluated: Config) => Config): Config {
    const { fiber } = this.#active(row)
    const evaluated = (config: Config): Config => interpolate(fiber!.ctx, structuredClone(config)) as Config
    const next = derive(structuredClone(present), evaluated(present))
    try {
      resolveConfig(fiber!.runtime!, evaluated(next))
    } catch (error) {
      throw refused(row, (error as Error).message, error)
    }
    return next
  }

  async #reload(row: string): Promise<void> {
    const report = await this.#rows.reload()
    // What is wrong with another row of the file is not this edit's fault.
    const left = report.skipped.find(
      (skipped) => skipped.file === this.#rows.userPatch && (skipped.row === undefined || skipped.row === row),
    )
    if (left) throw new Error(left.cause)
    await this.#entry(row).fiber?.await()
    this.#active(row)
  }

  #entry(row: string): Entry {
    try {
      return this.#ctx.loader.resolve(`host:${row}`)
    } catch (error) {
      throw refused(row, 'there is no such row.', error)
    }
  }

  #active(row: string): Entry {
    const entry = this.#entry(row)
    if ((entry.fiber?.state as number | undefined) !== STATE.ACTIVE) throw refused(row, 'the row is not running.')
    return entry
  }
}

export default plugin({
  name: 'config-editor',
  inject: ['loader', 'hostRows'],
  apply(ctx) {
    ctx.provide('configEditor', new ConfigEditor(ctx, ctx.hostRows))
  },
})
