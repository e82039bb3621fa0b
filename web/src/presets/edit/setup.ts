import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import { indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import type { Diagnostic as Mark } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import type { Extension, Text } from '@codemirror/state'
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view'
import { minimalSetup } from 'codemirror'
import type { Diagnostic, PresetVocabulary } from '../../../../server/wire/presets.ts'
import { vocabularySource } from './complete.ts'
import { presetTheme } from './theme.ts'

export interface Wiring {
  label: string
  vocabulary(): PresetVocabulary | undefined
  onChange(text: string): void
  onActivate(): void
  /** Escape, when no list is open. */
  onLeave(): void
}

export function createEditor(parent: HTMLElement, text: string, wiring: Wiring): EditorView {
  return new EditorView({ parent, state: EditorState.create({ doc: text, extensions: extensions(wiring) }) })
}

const extensions = ({ label, vocabulary, onChange, onActivate, onLeave }: Wiring): Extension => [
  // Before the rest: these keys win.
  keymap.of([
    { key: 'Mod-s', preventDefault: true, run: () => (onActivate(), true) },
    ...completionKeymap,
    { key: 'Escape', run: () => (onLeave(), true) },
    ...lintKeymap,
    indentWithTab,
  ]),
  minimalSetup,
  lineNumbers(),
  lintGutter(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  bracketMatching(),
  closeBrackets(),
  indentOnInput(),
  indentUnit.of('  '),
  yaml(),
  autocompletion({ override: [vocabularySource(vocabulary)], icons: false }),
  presetTheme,
  EditorView.contentAttributes.of({ 'aria-label': label, 'data-testid': 'preset-text' }),
  EditorView.updateListener.of((update) => {
    if (update.docChanged) onChange(update.state.doc.toString())
  }),
]

/** A check may be about a text a few keys older: what lies outside is pulled in. */
function offsetIn(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return Math.min(found.from + Math.max(column - 1, 0), found.to)
}

export function showDiagnostics(view: EditorView, diagnostics: readonly Diagnostic[]): void {
  const { doc } = view.state
  const marks = diagnostics.map(({ severity, message, line, column, endLine, endColumn, at }): Mark => {
    const from = offsetIn(doc, line, column)
    const to = endColumn === undefined ? wordEnd(doc, from) : Math.max(from, offsetIn(doc, endLine ?? line, endColumn))
    return { from, to, severity, message: at === undefined ? message : `${at}: ${message}` }
  })
  view.dispatch(setDiagnostics(view.state, marks))
}

function wordEnd(doc: Text, from: number): number {
  const line = doc.lineAt(from)
  return from + (/^\S*/.exec(line.text.slice(from - line.from))?.[0].length ?? 0)
}

export function goTo(view: EditorView, line: number, column: number): void {
  const anchor = offsetIn(view.state.doc, line, column)
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
  view.focus()
}

/** One change from the first to the last differing character: undo brings the former text back, the cursor stays near. */
export function replaceText(view: EditorView, text: string): void {
  const now = view.state.doc.toString()
  if (now === text) return
  let from = 0
  while (from < now.length && from < text.length && now[from] === text[from]) from++
  let tail = 0
  const most = Math.min(now.length, text.length) - from
  while (tail < most && now[now.length - 1 - tail] === text[text.length - 1 - tail]) tail++
  view.dispatch({ changes: { from, to: now.length - tail, insert: text.slice(from, text.length - tail) } })
}
