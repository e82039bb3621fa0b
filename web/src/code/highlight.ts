import { createHighlighterCore } from 'shiki/core'
import type { HighlighterCore, LanguageInput, ThemeRegistration } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'

export type Line = { text: string; tone?: string }[]

const grammars: Record<string, () => Promise<{ default: LanguageInput }>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
}
const ALIASES: Record<string, string> = {
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  console: 'bash',
  js: 'javascript',
  jsx: 'tsx',
  ts: 'typescript',
  py: 'python',
  rs: 'rust',
  yml: 'yaml',
  md: 'markdown',
  jsonc: 'json',
  h: 'c',
  'c++': 'c',
  cpp: 'c',
}

// Code is weight and tone, not hue: four marker colours stand for four tones, which the style sheet gives both themes.
const TONES: Record<string, string> = {
  '#000001': 'k-word',
  '#000002': 'k-text',
  '#000003': 'k-note',
  '#000004': 'k-name',
}
const theme: ThemeRegistration = {
  name: 'tones',
  type: 'light',
  fg: '#000000',
  bg: '#ffffff',
  settings: [
    { scope: ['keyword', 'storage', 'markup.heading', 'entity.name.tag'], settings: { foreground: '#000001' } },
    {
      scope: ['string', 'constant.numeric', 'markup.inline.raw', 'markup.inserted'],
      settings: { foreground: '#000002' },
    },
    { scope: ['comment', 'punctuation.definition.comment', 'markup.deleted'], settings: { foreground: '#000003' } },
    {
      scope: ['entity.name.function', 'entity.name.type', 'support.type.property-name'],
      settings: { foreground: '#000004' },
    },
    { scope: ['keyword.operator'], settings: { foreground: '#000000' } },
  ],
}

let core: Promise<HighlighterCore> | undefined

/** Undefined for a language without a grammar here: the code stays plain. */
export async function highlight(code: string, language: string): Promise<Line[] | undefined> {
  const name = ALIASES[language.toLowerCase()] ?? language.toLowerCase()
  const grammar = grammars[name]
  if (!grammar) return undefined
  core ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
  const highlighter = await core
  if (!highlighter.getLoadedLanguages().includes(name)) await highlighter.loadLanguage((await grammar()).default)
  return highlighter.codeToTokensBase(code, { lang: name, theme: 'tones' }).map((line) =>
    line.map(({ content, color }) => {
      const tone = color && TONES[color.toLowerCase()]
      return tone ? { text: content, tone } : { text: content }
    }),
  )
}
