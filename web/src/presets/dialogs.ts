import { create } from 'zustand'

export type PresetDialog = { kind: 'copy'; from?: string } | { kind: 'import'; text?: string; file?: string }

interface Dialogs {
  dialog: PresetDialog | undefined
  /** A place in the editor that something else on the screen asked for. */
  jump: { preset: string; line: number; column: number } | undefined
}

export const usePresetDialogs = create<Dialogs>()(() => ({ dialog: undefined, jump: undefined }))

export const openPresetDialog = (dialog: PresetDialog | undefined): void => usePresetDialogs.setState({ dialog })

export const jumpTo = (jump: Dialogs['jump']): void => usePresetDialogs.setState({ jump })
