import type { Selection } from '../wire/messages.ts'

export interface DefaultModelOptions {
  /** Reads the live configuration; asked at every call. */
  read(): { provider: string | undefined; model: string | undefined; reasoningEffort: string | undefined }
  /** Writes the complete configuration; undefined where nothing can be written, and saving is then a no-op. */
  write(): ((config: Readonly<Record<string, string>>) => Promise<void>) | undefined
}

const selectionOf = ({
  provider,
  model,
  reasoningEffort,
}: ReturnType<DefaultModelOptions['read']>): Selection | undefined =>
  provider === undefined || model === undefined
    ? undefined
    : { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) }

/** The deployment's default model and nothing else: sessions and their picks are not its business (K-11). */
export class AgentDefaultModel {
  readonly #options: DefaultModelOptions
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: DefaultModelOptions) {
    this.#options = options
  }

  /** A fresh object per call; undefined when no default is set. A route that is gone is not repaired (K-12). */
  currentSelection(): Selection | undefined {
    return selectionOf(this.#options.read())
  }

  /** Saves in the order of the calls, with the values at the time of the call; a failure rejects its own call only (K-08 to K-10). */
  saveSelection({ provider, model, reasoningEffort }: Selection): Promise<void> {
    const config = { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) }
    const save = this.#queue.then(() => this.#options.write()?.(config))
    this.#queue = save.catch(() => {
      // The caller has this error; the next save is not concerned.
    })
    return save
  }
}
