import { useMemo } from 'react'
import { diffLines } from '../transcript/diff-lines.ts'
import type { DiffLine, Hunk } from '../transcript/diff-lines.ts'

const CLASSES = { same: '', add: 'a', del: 'd', gap: '' } as const
const SIGNS = { same: ' ', add: '+', del: '-', gap: ' ' } as const

/** The lines of a section that differs, wrapped like its text and not scrolled like code. */
export function Lines({ hunk }: { hunk: Hunk }) {
  const lines = useMemo(() => diffLines([hunk]), [hunk])
  return (
    <pre className="pv-lines" data-testid="prompt-diff" tabIndex={0}>
      {lines.map((line, index) => (
        <Line key={index} line={line} />
      ))}
    </pre>
  )
}

function Line({ line }: { line: DiffLine }) {
  return (
    <span className={`ln ${CLASSES[line.kind]}`}>
      <u>{SIGNS[line.kind]}</u>
      {line.pieces.map((piece, index) => (index % 2 ? <em key={index}>{piece}</em> : piece))}
      {'\n'}
    </span>
  )
}
