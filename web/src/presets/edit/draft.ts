import { create } from 'zustand'

/** A text that was not activated: kept in this browser, with the digest of the document that it is an edit of. */
export interface Draft {
  base: string
  text: string
  /** Ms since the epoch. */
  at: number
}

const PREFIX = 'core-web.preset-draft.'

export function readPresetDraft(preset: string, storage: Storage = localStorage): Draft | undefined {
  try {
    const held = JSON.parse(storage.getItem(PREFIX + preset) ?? 'null') as Draft | null
    return held && typeof held.text === 'string' && typeof held.base === 'string' ? held : undefined
  } catch {
    // No storage, or not ours: then there is no draft.
    return undefined
  }
}

/** False when the browser could not keep it. */
export function keepPresetDraft(preset: string, draft: Draft | undefined, storage: Storage = localStorage): boolean {
  try {
    if (draft) storage.setItem(PREFIX + preset, JSON.stringify(draft))
    else storage.removeItem(PREFIX + preset)
    if (useMarks.getState()[preset] !== (draft !== undefined)) useMarks.setState({ [preset]: draft !== undefined })
    return true
  } catch {
    // Full or switched off: the text lives as long as the page, and the editor says so.
    return false
  }
}

const useMarks = create<Record<string, boolean>>()(() => ({}))

/** Whether a draft is kept, told anew when one comes or goes. */
export const useHasDraft = (preset: string): boolean =>
  useMarks((marks) => marks[preset] ?? readPresetDraft(preset) !== undefined)
