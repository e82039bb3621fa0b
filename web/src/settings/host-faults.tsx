import { TriangleAlert } from 'lucide-react'
import type { HostFacts } from '../../../server/wire/views.ts'
import { useApp } from '../store/store.ts'

export function Fault({ problem }: { problem: HostFacts['problems'][number] }) {
  return (
    <div className="note fail" role="alert" data-testid="host-fault">
      <TriangleAlert size={14} />
      <span>
        <span className="m">{problem.plugin}</span> {problem.cause}{' '}
        <span className="mono-s">
          {problem.file}: {problem.row}
        </span>
      </span>
    </div>
  )
}

/** What is wrong with the host's rows that a page of settings is about; a row is meant by its name or the start of it. */
export function HostFaults({ rows }: { rows: readonly string[] }) {
  const problems = useApp((app) => app.global?.host.problems)
  const ours = (problems ?? []).filter(({ row, plugin }) =>
    rows.some((name) => [row, plugin].some((id) => id === name || id.startsWith(`${name}-`))),
  )
  if (ours.length === 0) return null
  return (
    <div className="stack tight">
      {ours.map((problem) => (
        <Fault key={`${problem.file}:${problem.row}`} problem={problem} />
      ))}
    </div>
  )
}
