import { Copy } from 'lucide-react'
import { memo, useEffect, useState } from 'react'
import type { Line } from '../code/highlight.ts'
import { IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'
import { useT } from '../i18n/i18n.ts'

/** Longer code stays plain: colouring it would hold up the page (B80). */
const HIGHLIGHT_LIMIT = 40_000
/** Characters of one block in the page; the rest is there to copy. */
const SHOWN_LIMIT = 60_000
const SETTLE_MS = 150

export const CodeBlock = memo(function CodeBlock({ code, lang }: { code: string; lang?: string | undefined }) {
  const t = useT()
  const lines = useHighlight(code, lang)
  const shown = code.length > SHOWN_LIMIT ? code.slice(0, SHOWN_LIMIT) : code
  return (
    <div className="codeblock">
      <div className="lang">
        <span>{lang ?? ''}</span>
        <span className="right">
          <IconButton label={t('copy')} look="sm" onClick={() => void copyText(code)}>
            <Copy size={14} />
          </IconButton>
        </span>
      </div>
      <pre tabIndex={0}>
        <code>{lines ? lines.map(renderLine) : shown}</code>
      </pre>
      {shown !== code && <div className="more">{t('cut.shown', { shown: SHOWN_LIMIT, total: code.length })}</div>}
    </div>
  )
})

const renderLine = (line: Line, index: number) => (
  <span key={index}>
    {line.map((token, column) => (
      <span key={column} className={token.tone}>
        {token.text}
      </span>
    ))}
    {'\n'}
  </span>
)

/** Plain at first; coloured when the text has stood still for a moment and the grammar has arrived. */
function useHighlight(code: string, lang: string | undefined): Line[] | undefined {
  const [done, setDone] = useState<{ code: string; lines: Line[] }>()
  useEffect(() => {
    if (!lang || code.length > HIGHLIGHT_LIMIT) return
    let current = true
    const timer = setTimeout(async () => {
      const { highlight } = await import('../code/highlight.ts')
      const lines = await highlight(code, lang)
      if (current && lines) setDone({ code, lines })
    }, SETTLE_MS)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [code, lang])
  return done?.code === code ? done.lines : undefined
}
