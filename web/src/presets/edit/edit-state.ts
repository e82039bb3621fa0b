import { create } from 'zustand'
import type { StoreApi, UseBoundStore } from 'zustand'
import type { PresetSource } from '../../../../server/wire/presets.ts'
import { keepPresetDraft, readPresetDraft } from './draft.ts'

export interface EditState {
  /** The document as the server told it last. */
  source: PresetSource
  text: string
  /** Digest of the document that the text is an edit of. */
  base: string
  /** Unknown for a draft whose document has changed since. */
  baseText?: string
  /** What the last save replaced: an answer with it is late. */
  past?: string
  /** When the draft was kept last; `lost`: the browser could not keep it. */
  kept?: number | 'lost'
}

export interface Edit {
  use: UseBoundStore<StoreApi<EditState>>
  change(text: string): void
  /** The server told the document anew. */
  follow(source: PresetSource): void
  /** From now on an edit of the document as it stands. */
  keepMine(): void
  /** The document as it stands; the draft goes. */
  takeTheirs(): void
  saved(text: string, digest: string): void
  /** Keeps the draft at once; true when there is one and it is kept. */
  keep(): boolean
}

export const isDirty = ({ text, baseText }: EditState): boolean => text !== baseText

/** The file holds something else now than what the text is an edit of. */
export const inConflict = (state: EditState): boolean =>
  isDirty(state) && state.base !== state.source.digest && state.past !== state.source.digest

const KEEP_MS = 250

/** The text in hand, its draft in this browser, and how it stands to the document on the server. */
export function openEdit(first: PresetSource, storage: Storage = localStorage): Edit {
  const { preset } = first
  const use = create<EditState>()(() => start(first, storage))
  let timer: ReturnType<typeof setTimeout> | undefined
  const put = (changes: Partial<EditState>) => {
    use.setState(changes)
    clearTimeout(timer)
    timer = setTimeout(keep, KEEP_MS)
  }
  const take = (source: PresetSource) => put({ source, text: source.text, base: source.digest, baseText: source.text })
  const keep = (): boolean => {
    clearTimeout(timer)
    const { text, base, ...rest } = use.getState()
    const dirty = text !== rest.baseText
    const at = Date.now()
    const done = keepPresetDraft(preset, dirty ? { text, base, at } : undefined, storage)
    use.setState({ kept: dirty ? (done ? at : 'lost') : undefined })
    return dirty && done
  }
  return {
    use,
    keep,
    change: (text) => put({ text }),
    follow(source) {
      const now = use.getState()
      const moved = now.base !== source.digest && now.past !== source.digest
      // A clean editor follows the file; one whose text the file took over by other ways has nothing left to tell.
      if (moved && (!isDirty(now) || now.text === source.text)) take(source)
      else use.setState({ source })
    },
    keepMine() {
      const { source } = use.getState()
      put({ base: source.digest, baseText: source.text })
    },
    takeTheirs: () => take(use.getState().source),
    saved(text, digest) {
      put({ base: digest, baseText: text, past: use.getState().source.digest })
      // What is in force is no draft any more, from this moment on.
      keep()
    },
  }
}

function start(source: PresetSource, storage: Storage): EditState {
  const fresh = { source, text: source.text, base: source.digest, baseText: source.text }
  const draft = readPresetDraft(source.preset, storage)
  if (!draft || draft.text === source.text) return fresh
  const known = draft.base === source.digest && { baseText: source.text }
  return { source, text: draft.text, base: draft.base, kept: draft.at, ...known }
}
