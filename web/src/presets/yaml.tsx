import { memo, useState } from 'react'
import type { ReactNode } from 'react'
import { useT } from '../i18n/i18n.ts'
import { Button } from '../ui/button.tsx'

/** A longer document is shown up to here until it is asked for. */
const SHOWN_LINES = 2000

interface Props {
  text: string
  /** Lines with a fault, from 1. */
  marks?: ReadonlyMap<number, 'error' | 'warning'>
}

/** A preset as declared: keys carry weight, `!!js` expressions stand out, because they run on the host. */
export const Yaml = memo(function Yaml({ text, marks }: Props) {
  const t = useT()
  const [all, setAll] = useState(false)
  const lines = text.replace(/\n$/, '').split('\n')
  const shown = all ? lines : lines.slice(0, SHOWN_LINES)
  return (
    <>
      <div className="yaml" tabIndex={0} role="region" aria-label={t('preset.document')} data-testid="preset-yaml">
        {shown.map((line, index) => (
          <div key={index} className={marks?.get(index + 1) ?? ''}>
            <b>{index + 1}</b>
            <span>{paint(line)}</span>
          </div>
        ))}
      </div>
      {shown.length < lines.length && (
        <Button look="ghost" onClick={() => setAll(true)}>
          {t('presets.allLines', { n: lines.length })}
        </Button>
      )}
    </>
  )
})

function paint(line: string): ReactNode {
  if (/^\s*#/.test(line)) return <span className="cm">{line}</span>
  const match = /^(\s*(?:- )?)([\w./@$-]+|"[^"]*"|'[^']*')(:)(?=\s|$)(.*)$/.exec(line)
  if (!match) return value(line)
  const [, indent, key, colon, rest] = match
  return (
    <>
      {indent}
      <span className="k">{key}</span>
      {colon}
      {value(rest ?? '')}
    </>
  )
}

function value(text: string): ReactNode {
  const at = text.indexOf('!!js')
  if (at < 0) return text
  return (
    <>
      {text.slice(0, at)}
      <span className="js">{text.slice(at)}</span>
    </>
  )
}
