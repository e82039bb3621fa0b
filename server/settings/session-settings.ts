import { CoreError } from '../wire/errors.ts'
import type { ParsedArgs } from '../wire/commands.ts'
import type { Selection } from '../wire/messages.ts'
import type { Budget, SessionSettingsView } from '../wire/models.ts'

type Config = Readonly<Record<string, unknown>>

export interface SessionSettingsOptions {
  /** The live configuration; asked at every call. */
  read(): { budget: Budget | undefined; titles: Selection | undefined }
  /** Edits the configuration as the file has it; undefined where nothing can be written. */
  edit(): ((derive: (config: Config) => Config) => Promise<void>) | undefined
  /** Throws CoreError for a pick that no request could use (L-14). */
  check(selection: Selection): Promise<void>
}

/** Limits and titles of sessions as a whole; kept in the configuration, and in force from the next request on. */
export class SessionSettings {
  readonly #options: SessionSettingsOptions
  readonly #observers = new Set<(view: SessionSettingsView) => void>()
  #told: string

  constructor(options: SessionSettingsOptions) {
    this.#options = options
    this.#told = JSON.stringify(this.current())
  }

  /** A fresh object per call. */
  current(): SessionSettingsView {
    const { budget, titles } = this.#options.read()
    return { budget: { ...budget }, ...(titles && { titles: { ...titles } }) }
  }

  onChange(observer: (view: SessionSettingsView) => void): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  /** The configuration was read again; observers hear of what differs. */
  reread(): void {
    const view = this.current()
    const text = JSON.stringify(view)
    if (text === this.#told) return
    this.#told = text
    for (const observer of this.#observers) observer(view)
  }

  /** Absent: as it is. Null: no limit. Rejects CoreError `settings/not-saved`. */
  async saveBudget(change: ParsedArgs<'budget.save'>): Promise<SessionSettingsView> {
    return this.#save((config) => {
      const limits = { ...(config['budget'] as Budget | undefined), ...change }
      const kept = Object.entries(limits).filter(([, limit]) => limit !== null && limit !== undefined)
      return withKey(config, 'budget', kept.length > 0 ? Object.fromEntries(kept) : undefined)
    })
  }

  /** Null: titles follow from the first prompt. Rejects CoreError `session/model-unavailable` and `settings/not-saved`. */
  async saveTitles(selection: Selection | null): Promise<SessionSettingsView> {
    if (selection) await this.#options.check(selection)
    return this.#save((config) => withKey(config, 'titles', selection ?? undefined))
  }

  async #save(derive: (config: Config) => Config): Promise<SessionSettingsView> {
    const edit = this.#options.edit()
    if (!edit)
      throw new CoreError('settings/not-saved', 'This host keeps no settings: it runs without the row config-editor.')
    await edit(derive)
    this.reread()
    return this.current()
  }
}

const withKey = (config: Config, key: string, value: unknown): Config => {
  const { [key]: _old, ...others } = config
  return value === undefined ? others : { ...others, [key]: value }
}
