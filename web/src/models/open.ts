import { create } from 'zustand'

/** Which session's picker is open; other places than its chip may open it. */
export const usePickerOpen = create<{ session?: string | undefined }>()(() => ({}))

export const openPicker = (session: string | undefined): void => usePickerOpen.setState({ session })
