import { EVENT_TYPES, IGNORABLE_TYPES, SURFACE_TYPES, type Draft } from '../wire/events.ts'

export interface VocabularyEntry {
  /** Event types of a plugin that a reader must know to rebuild a session. */
  types: readonly string[]
  plugin: string
  version: string
}

const CORE = new Set<string>(EVENT_TYPES)
const IGNORABLE = new Set<string>(IGNORABLE_TYPES)
const SURFACE = new Set<string>(SURFACE_TYPES)

export const isSurfaceType = (type: string): boolean => SURFACE.has(type)
export const isIgnorableType = (type: string): boolean => IGNORABLE.has(type)

/** The event types this host understands: the core's and those its plugins registered (SL-18). */
export class Vocabulary {
  readonly #owners = new Map<string, VocabularyEntry>()

  /** Returns the disposer. A type has one owner: a second registration throws. */
  register(entry: VocabularyEntry): () => void {
    for (const type of entry.types) {
      const owner = this.#owners.get(type)
      if (CORE.has(type) || owner)
        throw new Error(`event type ${type} is already registered by ${owner?.plugin ?? 'core'}`)
    }
    for (const type of entry.types) this.#owners.set(type, entry)
    return () => {
      for (const type of entry.types) if (this.#owners.get(type) === entry) this.#owners.delete(type)
    }
  }

  knows(type: string): boolean {
    return CORE.has(type) || this.#owners.has(type)
  }

  ownerOf(type: string): VocabularyEntry | undefined {
    return this.#owners.get(type)
  }
}

interface Recorded {
  type: string
  ignorable?: true
  data?: unknown
}

/** The first event that this host may not pass over, with what the log itself says about who can read it. */
export function firstUnknown(
  events: readonly Recorded[],
  vocabulary: Vocabulary,
): { type: string; needs: string | null } | null {
  const unknown = events.find((event) => !event.ignorable && !vocabulary.knows(event.type))
  if (!unknown) return null
  const declared = events.flatMap((event) =>
    event.type === 'session/vocabulary' ? [event.data as { types: string[]; plugin: string; version: string }] : [],
  )
  const owner = declared.findLast((entry) => entry.types.includes(unknown.type))
  return { type: unknown.type, needs: owner ? `${owner.plugin}@${owner.version}` : null }
}

/** What a reader needs to know before it meets this type for the first time. */
export const vocabularyDraft = (entry: VocabularyEntry): Draft<'session/vocabulary'> => ({
  type: 'session/vocabulary',
  ignorable: true,
  data: { types: [...entry.types], plugin: entry.plugin, version: entry.version },
})
