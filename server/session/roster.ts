import type { PresetRow } from '../wire/views.ts'
import type { DryRun } from '../wire/presets.ts'
import type { PresetEvent } from './ports.ts'

/** The preset registry as lists need it. */
export interface RosterSource {
  list(): { id: string; name?: string; description?: string; order?: number; broken?: string }[]
  /** The revision that new sessions get; 0 while none was ever mounted. */
  generationOf(id: string): number
  describe(id: string): Promise<DryRun>
  condition(id: string): {
    waiting: boolean
    notices: string[]
    own: boolean
    stale?: { message: string; line?: number; column?: number }
  }
  defaultId(): string
  onChange(observer: (change: PresetEvent) => void): () => void
}

/** Documents that declare nothing yet: each is a broken row under the name of its file. */
export interface BrokenDocuments {
  problems(): { id: string; reason: string }[]
  onChange(observer: () => void): () => void
}

/** The presets as people choose among them: contents and cost before the pick, the reason in place of both when broken. */
export class Roster {
  readonly #source: RosterSource
  readonly #documents: BrokenDocuments | undefined
  readonly #observers = new Set<(rows: PresetRow[]) => void>()
  #rows: PresetRow[] = []
  #running: Promise<void> | undefined
  #again = false
  #stop: (() => void) | undefined

  constructor(source: RosterSource, documents?: BrokenDocuments) {
    this.#source = source
    this.#documents = documents
  }

  async start(): Promise<void> {
    // A session that moves changes no row, and to look costs a dry run of every preset.
    const ofPresets = this.#source.onChange(({ kind }) => void (kind === 'roster' && this.refresh()))
    const ofDocuments = this.#documents?.onChange(() => void this.refresh())
    this.#stop = () => {
      ofPresets()
      ofDocuments?.()
    }
    await this.refresh()
  }

  close(): void {
    this.#stop?.()
  }

  current(): PresetRow[] {
    return this.#rows
  }

  onChange(observer: (rows: PresetRow[]) => void): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  /** One look at a time; a change during one makes a second follow. */
  refresh(): Promise<void> {
    if (this.#running) {
      this.#again = true
      return this.#running
    }
    this.#running = this.#look().finally(() => {
      this.#running = undefined
      if (!this.#again) return undefined
      this.#again = false
      return this.refresh()
    })
    return this.#running
  }

  async #look(): Promise<void> {
    const declared = await Promise.all(this.#source.list().map((row) => this.#describe(row)))
    const rows = [...declared, ...(this.#documents?.problems() ?? []).map(brokenRow)]
    if (JSON.stringify(rows) === JSON.stringify(this.#rows)) return
    this.#rows = rows
    for (const observer of this.#observers) observer(rows)
  }

  async #describe(row: ReturnType<RosterSource['list']>[number]): Promise<PresetRow> {
    const { id } = row
    const { waiting, notices, own, stale } = this.#source.condition(id)
    const base = {
      ...row,
      isDefault: id === this.#source.defaultId(),
      generation: this.#source.generationOf(id),
      own,
      ...(stale && { stale }),
      ...(notices.length > 0 && { notices }),
    }
    if (row.broken !== undefined) return { ...base, waiting, services: [], tools: [], prompt: '' }
    try {
      const { tools, sections, services, tokens } = await this.#source.describe(id)
      return { ...base, services, tools, prompt: promptOf(sections), tokens: tokens.prompt + tokens.tools }
    } catch (error) {
      // It broke, or went, since the list was read; the change that did it makes the next look.
      return { ...base, broken: (error as Error).message, services: [], tools: [], prompt: '' }
    }
  }
}

const SENT = new Set(['shown', 'changed', 'added'])

const promptOf = (sections: DryRun['sections']): string =>
  sections.flatMap(({ fate, text }) => (SENT.has(fate) && text ? [text] : [])).join('\n\n')

const brokenRow = ({ id, reason }: { id: string; reason: string }): PresetRow => ({
  id,
  broken: reason,
  isDefault: false,
  generation: 0,
  own: true,
  services: [],
  tools: [],
  prompt: '',
})
