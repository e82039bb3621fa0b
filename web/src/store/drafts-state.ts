import { create } from 'zustand'
import { readDraft, writeDraft } from './drafts.ts'

const useTexts = create<Record<string, string>>()(() => ({}))

/** Draft of a place (`new`, or a session id): what was typed and not sent. */
export const useDraft = (key: string): string => useTexts((texts) => texts[key] ?? readDraft(key))

export const draftOf = (key: string): string => useTexts.getState()[key] ?? readDraft(key)

export function setDraft(key: string, text: string): void {
  useTexts.setState({ [key]: text })
  writeDraft(key, text)
}

/** Puts text that came back (a queued row, a refused prompt) in front of what is typed already. */
export function giveBack(key: string, text: string): void {
  const typed = draftOf(key)
  setDraft(key, typed.trim() === '' ? text : `${text}\n\n${typed}`)
}
