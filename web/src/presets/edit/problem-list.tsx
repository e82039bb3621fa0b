import { Check, CircleX, TriangleAlert } from 'lucide-react'
import type { Diagnostic } from '../../../../server/wire/presets.ts'
import { useT } from '../../i18n/i18n.ts'
import { jumpTo } from '../dialogs.ts'

/** Every fault with its place; a click goes there. */
export function ProblemList({
  preset,
  faults,
  fresh,
}: {
  preset: string
  faults: readonly Diagnostic[]
  fresh: boolean
}) {
  const t = useT()
  return (
    <section className="prob" aria-label={t('presets.problems')} data-testid="preset-problems">
      <div className="prob-head">
        <span className="m">{t('presets.problems')}</span>
        {faults.length > 0 && (
          <span className={`count ${faults.some(({ severity }) => severity === 'error') ? 'fail' : ''}`}>
            {faults.length}
          </span>
        )}
        <span className="right t3 t12 flex key-hint">
          <kbd>F8</kbd> {t('presets.nextProblem')}
        </span>
      </div>
      {faults.length === 0 && (
        <p className="pr-none t3">
          {fresh && <Check size={14} className="ok" />}
          {t(fresh ? 'presets.noFaults' : 'presets.checking')}
        </p>
      )}
      <ul>
        {faults.map((fault, index) => (
          <li key={index}>
            <button
              type="button"
              className="pr"
              data-testid="preset-problem"
              onClick={() => jumpTo({ preset, line: fault.line, column: fault.column })}
            >
              {fault.severity === 'error' ? (
                <CircleX size={14} className="fail" />
              ) : (
                <TriangleAlert size={14} className="warn" />
              )}
              <span className="grow">
                <span className="msg">{fault.message}</span>
                {fault.at !== undefined && <span className="mono-s t3 at">{fault.at}</span>}
              </span>
              <span className="mono-s t3">
                {fault.line}:{fault.column}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
