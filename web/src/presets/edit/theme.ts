import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { Decoration, EditorView, MatchDecorator, ViewPlugin } from '@codemirror/view'
import type { DecorationSet, ViewUpdate } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Weight and tone, no hue; the tokens of the page, so that both themes follow by themselves. */
const looks = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--sunken)', color: 'var(--text-2)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { font: 'var(--m-12)', fontVariantLigatures: 'none', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 16px 0 8px' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--text-3)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': {
    font: 'var(--m-11)',
    lineHeight: '18px',
    padding: '0 4px 0 12px',
    minWidth: '36px',
  },
  '.cm-gutter-lint': { width: '16px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent-fill) 26%, transparent)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--active)', outline: 'none' },
  '.cm-js': { backgroundColor: 'var(--active)', color: 'var(--text)', borderRadius: '3px' },
  '.cm-lintRange-error, .cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--fail-fill) 1px',
    textUnderlineOffset: '3px',
    color: 'var(--text)',
  },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--warn-fill)' },
  '.cm-lint-marker': { width: '8px', height: '8px', content: 'none', margin: '5px 4px', borderRadius: '50%' },
  '.cm-lint-marker-error': { content: 'none', border: '2px solid var(--fail-fill)' },
  '.cm-lint-marker-warning': { content: 'none', background: 'var(--warn-fill)', borderRadius: '1px', rotate: '45deg' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line-2)',
    borderRadius: 'var(--r-card)',
    boxShadow: 'var(--e-3)',
    font: 'var(--t-12)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    font: 'var(--m-12)',
    fontFamily: 'var(--font-mono)',
    maxHeight: '232px',
    padding: '4px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', borderRadius: 'var(--r-tag)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--active)',
    color: 'var(--text)',
  },
  '.cm-completionDetail': { fontStyle: 'normal', color: 'var(--text-3)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600', color: 'var(--text)' },
  '.cm-tooltip.cm-completionInfo': { padding: '8px 12px', maxWidth: '320px', color: 'var(--text-2)' },
  '.cm-diagnostic': { padding: '8px 12px', border: 'none', maxWidth: '480px', overflowWrap: 'anywhere' },
  '.cm-snippetField': { backgroundColor: 'var(--hover)' },
})

const tones = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--text)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--text-3)' },
  { tag: tags.typeName, color: 'var(--text)' },
  { tag: [tags.labelName, tags.keyword], color: 'var(--text)', fontWeight: '500' },
])

/** An expression runs on the host: it stands out from its tag to the end of the line. */
const jsMarks = new MatchDecorator({ regexp: /!!js\b.*$/g, decoration: Decoration.mark({ class: 'cm-js' }) })

const expressions = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = jsMarks.createDeco(view)
    }
    update(update: ViewUpdate): void {
      this.decorations = jsMarks.updateDeco(update, this.decorations)
    }
  },
  { decorations: (plugin) => plugin.decorations },
)

export const presetTheme = [looks, syntaxHighlighting(tones), expressions]
