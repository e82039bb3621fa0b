import { memo } from 'react'
import type { ReactNode } from 'react'

/** A preset as declared: keys carry weight, `!!js` expressions stand out, because they run on the host. */
export const Yaml = memo(function Yaml({ text }: { text: string }) {
  return (
    <div className="yaml" tabIndex={0}>
      {text
        .replace(/\n$/, '')
        .split('\n')
        .map((line, index) => (
          <div key={index}>
            <b>{index + 1}</b>
            <span>{paint(line)}</span>
          </div>
        ))}
    </div>
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
