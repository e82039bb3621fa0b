import { useEffect, useRef } from 'react'
import type { EditorView } from '@codemirror/view'
import type { Diagnostic, PresetVocabulary } from '../../../../server/wire/presets.ts'
import { jumpTo, usePresetDialogs } from '../dialogs.ts'
import { createEditor, goTo, replaceText, showDiagnostics } from './setup.ts'

interface Props {
  preset: string
  text: string
  label: string
  diagnostics: readonly Diagnostic[]
  vocabulary: PresetVocabulary | undefined
  onChange(text: string): void
  onActivate(): void
  onLeave(): void
}

/** The editor itself; loaded when somebody edits, never with the first page. */
export function EditorField(props: Props) {
  const { preset, text, diagnostics } = props
  const parent = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(props)
  const jump = usePresetDialogs((dialogs) => dialogs.jump)
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (!parent.current) return
    const { text, label } = latest.current
    const made = createEditor(parent.current, text, {
      label,
      vocabulary: () => latest.current.vocabulary,
      onChange: (next) => latest.current.onChange(next),
      onActivate: () => latest.current.onActivate(),
      onLeave: () => latest.current.onLeave(),
    })
    view.current = made
    return () => {
      view.current = undefined
      made.destroy()
    }
  }, [])
  useEffect(() => {
    if (view.current) replaceText(view.current, text)
  }, [text])
  useEffect(() => {
    if (view.current) showDiagnostics(view.current, diagnostics)
  }, [diagnostics])
  useEffect(() => {
    if (jump?.preset !== preset || !view.current) return
    goTo(view.current, jump.line, jump.column)
    jumpTo(undefined)
  }, [jump, preset])
  return <div ref={parent} className="cm-host" />
}
