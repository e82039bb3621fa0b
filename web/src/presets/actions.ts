import type { PresetRow } from '../../../server/wire/views.ts'
import { presetSource } from '../api.ts'
import { t } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import { addProblem, get, toast } from '../store/store.ts'
import { keepPresetDraft } from './edit/draft.ts'
import { reorder } from './reorder.ts'

export const placeOf = (id: string): string => `preset:${id}`

export async function makeDefault(id: string | null): Promise<void> {
  const outcome = await run('preset.default', { preset: id }, { place: id === null ? 'presets' : placeOf(id) })
  if (!outcome.ok) return
  const key = id === null ? 'presets.defaultReset' : 'presets.defaultSet'
  toast(t(key, { id: outcome.result.preset }), { tone: 'ok' })
}

/** The file as it lies on the server, to this machine. */
export async function exportPreset(id: string): Promise<void> {
  const answer = await presetSource(id)
  if (!answer.ok) {
    addProblem({ place: placeOf(id), command: 'load', error: answer.error, retry: () => void exportPreset(id) })
    return
  }
  const address = URL.createObjectURL(new Blob([answer.value.text], { type: 'application/yaml' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${id}.yml`
  link.click()
  URL.revokeObjectURL(address)
}

/** Gone at once; the text comes back with "Undo". */
export async function deletePreset(id: string): Promise<void> {
  const outcome = await run('preset.delete', { preset: id }, { place: placeOf(id) })
  if (!outcome.ok) return
  keepPresetDraft(id, undefined)
  navigate({ place: 'presets' }, 'replace')
  const { text } = outcome.result
  const undo = () => void bringBack(id, text)
  toast(t('presets.deleted', { id }), { action: { label: t('undo'), run: undo }, ms: 12_000 })
}

async function bringBack(id: string, text: string): Promise<void> {
  const outcome = await run('preset.import', { text, id }, { place: 'presets', retry: () => void bringBack(id, text) })
  if (outcome.ok) navigate({ place: 'presets', id: outcome.result.preset })
}

/** Puts an own preset at another place among the own ones. */
export async function movePreset(id: string, to: number): Promise<void> {
  const own = get().global?.presets.filter((preset) => preset.own) ?? []
  for (const { preset, order } of reorder(own, id, to)) {
    const outcome = await run('preset.describe', { preset, order }, { place: 'presets' })
    if (!outcome.ok) return
  }
}

export function stepPreset(id: string, by: -1 | 1): void {
  const own = get().global?.presets.filter((preset) => preset.own) ?? []
  const at = own.findIndex((preset) => preset.id === id)
  if (at >= 0 && own[at + by]) void movePreset(id, at + by)
}

/** The preset that a screen without an id shows: the default, else the first. */
export const firstOf = (presets: readonly PresetRow[]): PresetRow | undefined =>
  presets.find((preset) => preset.isDefault) ?? presets[0]
