/** Unsent text, kept per session in this browser: a reload, a reconnect or a crash of the tab does not lose it (B69). */
const PREFIX = 'core-web.draft.'

export function readDraft(key: string, storage: Storage = localStorage): string {
  try {
    return storage.getItem(PREFIX + key) ?? ''
  } catch {
    // Storage is switched off: drafts then live as long as the page.
    return ''
  }
}

export function writeDraft(key: string, text: string, storage: Storage = localStorage): void {
  try {
    if (text === '') storage.removeItem(PREFIX + key)
    else storage.setItem(PREFIX + key, text)
  } catch {
    // Full or switched off: the text stays in the composer, only the copy for a reload is missing.
  }
}
