import { Info } from 'lucide-react'
import type { UsageFolder, UsageReport, UsageRow, UsageSession } from '../../../server/wire/models.ts'
import { shortPath, thousands } from '../i18n/format.ts'
import { linkTo } from '../router.ts'
import type { UsagePlace } from '../router.ts'
import { useApp } from '../store/store.ts'
import { CostText, CountCells, CountHeads, Head, NarrowLine } from './cells.tsx'
import { priced } from './figures.ts'
import { withChange } from './head.tsx'
import { folderName } from './names.ts'
import { useText } from './text.ts'

export function ModelTable({ report }: { report: UsageReport }) {
  const t = useText()
  const { rows, total } = report
  return (
    <section className="card utable" aria-label={t('usage.models')} data-testid="usage-models">
      <table className="utbl">
        <thead>
          <tr>
            <th scope="col">{t('usage.models')}</th>
            <CountHeads first />
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <ModelRow key={JSON.stringify([row.provider, row.model, row.preset])} row={row} rows={rows} />
          ))}
        </tbody>
      </table>
      {total.unpriced > 0 && <Unpriced report={report} />}
    </section>
  )
}

/** The provider stands beside a model that two of them serve. */
function ModelRow({ row, rows }: { row: UsageRow; rows: readonly UsageRow[] }) {
  const t = useText()
  const settable = useSettable(row.provider)
  const label = useApp((app) => app.global?.models.providers.find((view) => view.id === row.provider)?.label)
  const provider = label ?? row.provider
  const twice = rows.some((other) => other.model === row.model && other.provider !== row.provider)
  const cost =
    !priced(row) && settable ? (
      <a
        className="t3 plain setprice"
        aria-label={t('usage.setPriceOf', { model: row.model })}
        {...linkTo({ place: 'settings', page: 'models', provider: row.provider, model: row.model })}
      >
        {t('usage.noPrice')}
      </a>
    ) : (
      <CostText counts={row} />
    )
  return (
    <tr data-testid="usage-model">
      <td title={provider}>
        <span className="who">
          <span className="mono trunc">{row.model}</span>
          <span className="t3 trunc">
            {row.preset ?? t('usage.noPreset')}
            {twice && ` · ${provider}`}
          </span>
        </span>
        <NarrowLine counts={row} />
      </td>
      <CountCells counts={row} cost={cost} first />
    </tr>
  )
}

/** Demo and replay routes have no settings, and so no price to set. */
function useSettable(provider: string | undefined): boolean {
  return useApp((app) => app.global?.models.providers.some((view) => view.id === provider && view.settings) ?? false)
}

function Unpriced({ report }: { report: UsageReport }) {
  const t = useText()
  const providers = useApp((app) => app.global?.models.providers)
  const settable = report.rows.filter((row) => providers?.some((view) => view.id === row.provider && view.settings))
  // A failed request often has no token count: a price would not help it.
  const missed = (row: UsageRow) => row.unpriced - row.failed
  const row = settable.filter((row) => missed(row) > 0).toSorted((a, b) => missed(b) - missed(a))[0]
  return (
    <div className="ufoot" data-testid="usage-unpriced">
      <Info size={14} className="t3" />
      <span className="t2 grow">
        {t('usage.notInTotals', { n: report.total.unpriced === 1 ? 1 : thousands(report.total.unpriced) })}
      </span>
      {row && (
        <a
          className="btn ghost sm"
          title={t('usage.setPriceOf', { model: row.model })}
          data-testid="set-price"
          {...linkTo({ place: 'settings', page: 'models', provider: row.provider, model: row.model })}
        >
          {t('usage.setPrice')}
        </a>
      )}
    </div>
  )
}

export function FolderTable({ folders, shown }: { folders: readonly UsageFolder[]; shown: UsagePlace }) {
  const t = useText()
  const workspaces = useApp((app) => app.global?.workspaces) ?? []
  const home = useApp((app) => app.global?.host.home)
  return (
    <section className="card utable" aria-label={t('usage.folders')} data-testid="usage-folders">
      <table className="utbl">
        <thead>
          <tr>
            <th scope="col">{t('usage.folders')}</th>
            <CountHeads />
          </tr>
        </thead>
        <tbody>
          {folders.map((folder) => (
            <tr key={folder.cwd ?? ''}>
              <td title={folder.cwd ?? undefined}>
                <span className="who">
                  {folder.cwd === null ? (
                    <span>{t('usage.noFolder')}</span>
                  ) : (
                    <a className="name trunc" {...linkTo(withChange(shown, { cwd: folder.cwd }))}>
                      {folderName(folder.cwd, workspaces)}
                    </a>
                  )}
                  {folder.cwd !== null && <span className="t3 trunc wide">{shortPath(folder.cwd, home)}</span>}
                </span>
                <NarrowLine counts={folder} />
              </td>
              <CountCells counts={folder} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Ordered by the server: by cost, and by requests where none has a price. */
export function SessionTable({ sessions }: { sessions: readonly UsageSession[] }) {
  const t = useText()
  const workspaces = useApp((app) => app.global?.workspaces) ?? []
  const title = t(sessions.some(priced) ? 'usage.sessions' : 'usage.busiest')
  return (
    <section className="card utable spread" aria-label={title} data-testid="usage-sessions">
      <table className="utbl">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col" className="wide">
              {t('usage.workspace')}
            </th>
            <th scope="col" className="wide">
              {t('preset')}
            </th>
            <Head>{t('usage.col.turns')}</Head>
            <CountHeads cached={false} failed={false} />
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.session}>
              <td>
                <a className="name trunc" {...linkTo({ place: 'session', id: session.session })}>
                  {session.title || t('untitled')}
                </a>
                <NarrowLine counts={session} />
              </td>
              <td className="wide t2">
                {session.cwd === null ? t('usage.noFolder') : folderName(session.cwd, workspaces)}
              </td>
              <td className="wide t2">{session.preset ?? t('usage.noPreset')}</td>
              <td className="n wide">{thousands(session.turns)}</td>
              <CountCells counts={session} cached={false} failed={false} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
