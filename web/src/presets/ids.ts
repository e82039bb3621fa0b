import type { PresetRow } from '../../../server/wire/views.ts'
import type { Key } from '../i18n/i18n.ts'

/** As the server takes them: an id names a file. */
const NEW_ID = /^[a-z0-9][a-z0-9-]{0,63}$/

/** What is wrong with the id of a new preset; undefined when it can be used. */
export function idProblem(id: string, presets: readonly Pick<PresetRow, 'id'>[]): Key | undefined {
  if (id === '') return 'presets.id.none'
  if (!NEW_ID.test(id)) return 'presets.id.form'
  return presets.some((preset) => preset.id === id) ? 'presets.id.taken' : undefined
}

/** `<from>-copy`, or with the first number that is free. */
export function freeId(from: string, presets: readonly Pick<PresetRow, 'id'>[]): string {
  const stem = `${
    from
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 50) || 'preset'
  }-copy`
  const taken = new Set(presets.map((preset) => preset.id))
  for (let count = 1; ; count++) {
    const id = count === 1 ? stem : `${stem}-${count}`
    if (!taken.has(id)) return id
  }
}
