import './context.ts'
import { rm } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { resolveConfig } from '@deepseek-ai/cordis'
import { interpolate } from '@deepseek-ai/cordis-plugin-loader'
import { STATE, plugin } from '../preset/kernel.ts'
import { replaceFile, textOf } from '../preset/library-files.ts'
import { withOverride } from '../settings/patch-file.ts'
import { CoreError } from '../wire/errors.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import type { HostRows } from '../boot.ts'

type Config = Readonly<Record<string, unknown>>

const refused = (row: string, reason: string, cause?: unknown): CoreError =>
  new CoreError('settings/not-saved', `The setting of row ${row} was not saved: ${reason}`, { row }, { cause })

/** Edits the config of host rows in the user's patch file, and only there. One edit at a time. */
export class ConfigEditor {
  readonly #ctx: Context
  readonly #rows: HostRows
  #queue: Promise<unknown> = Promise.resolve()

  constructor(ctx: Context, rows: HostRows) {
    this.#ctx = ctx
    this.#rows = rows
  }

  /**
   * Derives the row's next config from its present one, checks it against the running plugin, writes and reloads. A config
   * equal to the inherited one takes the override out. When the row does not take it, the old file is put back. Rejects
   * CoreError `settings/not-saved`.
   */
  edit(row: string, derive: (config: Config) => Config): Promise<void> {
    const edit = this.#queue.then(() => this.#edit(row, derive))
    this.#queue = edit.catch(() => {
      // The caller has this error; the next edit is not concerned.
    })
    return edit
  }

  async #edit(row: string, derive: (config: Config) => Config): Promise<void> {
    const entry = this.#active(row)
    const { fiber } = entry
    const next = derive((entry.options.config ?? {}) as Config)
    try {
      resolveConfig(fiber!.runtime!, interpolate(fiber!.ctx, structuredClone(next)))
    } catch (error) {
      throw refused(row, (error as Error).message, error)
    }
    const { config, overriddenBy } = await this.#rows.inherited(row)
    if (overriddenBy !== undefined) throw refused(row, `${overriddenBy} sets it and comes after the user's settings.`)
    const before = await textOf(this.#rows.userPatch)
    const text = withOverride(before ?? '', row, isDeepStrictEqual(config ?? {}, next) ? undefined : next)
    if (text === (before ?? '')) return
    await replaceFile(this.#rows.userPatch, text)
    try {
      await this.#reload(row)
    } catch (error) {
      if (before === undefined) await rm(this.#rows.userPatch, { force: true })
      else await replaceFile(this.#rows.userPatch, before)
      await this.#rows.reload()
      throw refused(row, (error as Error).message, error)
    }
  }

  async #reload(row: string): Promise<void> {
    const report = await this.#rows.reload()
    const left = report.skipped.find(({ file }) => file === this.#rows.userPatch)
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
