import type { PresetRow } from '../../../server/wire/views.ts'
import type { Key, T } from '../i18n/i18n.ts'

/** Presets that the program ships and translates itself, as long as their declaration gives no name of its own (G-08). */
const BUILT_IN: { readonly [id: string]: { name: Key; about: Key } } = {
  standard: { name: 'preset.standard', about: 'preset.standard.about' },
  minimal: { name: 'preset.minimal', about: 'preset.minimal.about' },
}

type Shown = Pick<PresetRow, 'id' | 'name' | 'description'>

const builtIn = (preset: Shown) =>
  preset.name === undefined && Object.hasOwn(BUILT_IN, preset.id) ? BUILT_IN[preset.id] : undefined

/** An author's name stands even on a built-in id; without either the id is the name. */
export function presetName(preset: Shown, t: T): string {
  const own = builtIn(preset)
  return own ? t(own.name) : (preset.name ?? preset.id)
}

export function presetAbout(preset: Shown, t: T): string {
  const own = builtIn(preset)
  return own ? t(own.about) : (preset.description ?? '')
}
