import { ChevronDown, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { useOpen } from './open-state.ts'

interface FoldProps {
  id: string
  icon: ReactNode
  verb: string
  detail: ReactNode
  meta?: ReactNode
  live?: boolean
  children: ReactNode
}

/** A row that opens into what it stands for; closed, its content is not in the page (B81). */
export function Fold({ id, icon, verb, detail, meta, live, children }: FoldProps) {
  const [open, toggle] = useOpen(id, false)
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <>
      <button type="button" className={`row ${live ? 'live' : ''}`} aria-expanded={open} onClick={toggle}>
        {icon}
        <span className="verb">{verb}</span>
        <span className="last trunc">{detail}</span>
        <span className="meta">
          {meta}
          <Chevron size={14} />
        </span>
      </button>
      {open && children}
    </>
  )
}
