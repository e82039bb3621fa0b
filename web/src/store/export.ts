import { sessionExport } from '../api.ts'

/** Hands out the log of a session as a file, as the server writes it: header, then one event per line, secrets taken out. */
export function exportSession(id: string): void {
  const link = document.createElement('a')
  link.href = sessionExport(id)
  link.download = `${id}.jsonl`
  link.click()
}
