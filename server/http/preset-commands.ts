import type { CommandName, CommandResults, ParsedArgs } from '../wire/commands.ts'
import type { PresetLibrary } from '../preset/library.ts'

type PresetCommand =
  | 'preset.default'
  | 'preset.check'
  | 'preset.copy'
  | 'preset.import'
  | 'preset.save'
  | 'preset.describe'
  | 'preset.delete'
  | 'preset.move-blank'

type Answer<N extends CommandName> = (args: ParsedArgs<N>) => Promise<CommandResults[N]> | CommandResults[N]

export interface PresetHandlersOptions {
  library: Pick<PresetLibrary, 'check' | 'copy' | 'import' | 'save' | 'describe' | 'delete'>
  presets: { saveDefault(id: string | undefined): Promise<void>; defaultId(): string }
  sessions: { moveBlank(preset: string): Promise<CommandResults['preset.move-blank']> }
}

/** The commands about presets themselves; those about a session's preset belong to the sessions. */
export function presetHandlers({ library, presets, sessions }: PresetHandlersOptions): {
  [N in PresetCommand]: Answer<N>
} {
  return {
    'preset.default': async ({ preset }) => {
      await presets.saveDefault(preset ?? undefined)
      return { preset: presets.defaultId() }
    },
    'preset.check': ({ text, preset, trial }) => library.check(text, preset, trial),
    'preset.copy': ({ from, id, name }) => library.copy(from, id, name),
    'preset.import': ({ text, id }) => library.import(text, id),
    'preset.save': ({ preset, text, base }) => library.save(preset, text, base),
    'preset.describe': ({ preset, ...texts }) => library.describe(preset, texts),
    'preset.delete': ({ preset }) => library.delete(preset),
    'preset.move-blank': ({ preset }) => sessions.moveBlank(preset),
  }
}
