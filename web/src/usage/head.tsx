import { ChevronDown, Download, Folder, Layers } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { UsageReport } from '../../../server/wire/models.ts'
import { usageCsv } from '../api.ts'
import { shortPath } from '../i18n/format.ts'
import { navigate, USAGE_DAYS } from '../router.ts'
import type { UsageDays, UsagePlace } from '../router.ts'
import { useApp } from '../store/store.ts'
import { Segment, Tip } from '../ui/button.tsx'
import { usePhone } from '../ui/hooks.ts'
import { Pop } from '../ui/pop.tsx'
import { RailButton } from '../ui/rail-button.tsx'
import { range, zoneOf } from './dates.ts'
import { folderName } from './names.ts'
import { useLanguage, useText } from './text.ts'

interface Props {
  shown: UsagePlace
  report: UsageReport | undefined
}

/** Filters stand in the head; on a phone below it. */
export function UsageHead({ shown, report }: Props) {
  const t = useText()
  const phone = usePhone()
  const days = shown.days ?? 30
  return (
    <>
      <header className="head">
        <RailButton />
        <h1>{t('usage')}</h1>
        {!phone && <Filters shown={shown} report={report} />}
        <span className="right flex">
          {report && <Dates report={report} />}
          <a
            className="btn"
            href={usageCsv({ days, cwd: shown.cwd, preset: shown.preset })}
            download
            title={t('usage.csvWhat')}
            data-testid="usage-csv"
          >
            <Download size={14} />
            {t('usage.csv')}
          </a>
        </span>
      </header>
      {phone && (
        <div className="ufilters">
          <Filters shown={shown} report={report} />
        </div>
      )}
    </>
  )
}

function Dates({ report }: { report: UsageReport }) {
  const t = useText()
  const language = useLanguage()
  return (
    <Tip text={t('usage.offset', { zone: zoneOf(report.offset) })}>
      <button type="button" className="t3 t12 wide-only tipped" data-testid="usage-dates">
        {t('usage.dates', range(report.from, report.to, language))}
      </button>
    </Tip>
  )
}

function Filters({ shown, report }: Props) {
  const t = useText()
  const workspaces = useApp((app) => app.global?.workspaces) ?? []
  const home = useApp((app) => app.global?.host.home)
  const show = (change: Partial<UsagePlace>) => navigate(withChange(shown, change), 'replace')
  const periods = USAGE_DAYS.map((value) => ({
    value: String(value),
    label: t('usage.d', { n: value }),
    title: t('usage.days', { n: value }),
  }))
  return (
    <>
      <Segment
        label={t('usage.period')}
        value={String(shown.days ?? 30)}
        options={periods}
        onPick={(value) => show({ days: Number(value) as UsageDays })}
      />
      <Filter
        title={t('usage.workspace')}
        all={t('usage.allWorkspaces')}
        icon={<Folder size={14} />}
        value={shown.cwd}
        options={report?.filters.folders ?? []}
        labelOf={(path) => ({ name: folderName(path, workspaces), sub: shortPath(path, home) })}
        onPick={(cwd) => show({ cwd: cwd })}
        testid="usage-folder"
      />
      <Filter
        title={t('preset')}
        all={t('usage.allPresets')}
        icon={<Layers size={14} />}
        value={shown.preset}
        options={report?.filters.presets ?? []}
        labelOf={(name) => ({ name })}
        onPick={(preset) => show({ preset: preset })}
        testid="usage-preset"
      />
    </>
  )
}

/** The place with a change; what is set back to undefined goes, so that the address stays short. */
export function withChange(shown: UsagePlace, change: Partial<Record<keyof UsagePlace, unknown>>) {
  const said = Object.entries({ ...shown, ...change }).filter(([, value]) => value !== undefined)
  return { place: 'usage', ...(Object.fromEntries(said) as UsagePlace) } as const
}

interface FilterProps {
  title: string
  all: string
  icon: ReactNode
  value: string | undefined
  options: readonly string[]
  labelOf(value: string): { name: string; sub?: string }
  onPick(value: string | undefined): void
  testid: string
}

function Filter({ title, all, icon, value, options, labelOf, onPick, testid }: FilterProps) {
  const [open, setOpen] = useState(false)
  const phone = usePhone()
  const known = value === undefined || options.includes(value) ? options : [value, ...options]
  const trigger = (
    <button type="button" className="chip out" data-testid={testid}>
      {!phone && icon}
      <span className="trunc">{value === undefined ? (phone ? title : all) : labelOf(value).name}</span>
      <ChevronDown size={12} />
    </button>
  )
  const pick = (picked: string | undefined) => () => {
    setOpen(false)
    onPick(picked)
  }
  return (
    <Pop open={open} onOpenChange={setOpen} title={title} trigger={trigger} width={300}>
      <div className="opts" role="listbox" aria-label={title}>
        <Choice name={all} on={value === undefined} onPick={pick(undefined)} />
        {known.map((option) => (
          <Choice key={option} {...labelOf(option)} on={option === value} onPick={pick(option)} />
        ))}
      </div>
    </Pop>
  )
}

function Choice({ name, sub, on, onPick }: { name: string; sub?: string; on: boolean; onPick(): void }) {
  return (
    <button type="button" role="option" aria-selected={on} className={`opt ${on ? 'on' : ''}`} onClick={onPick}>
      <span className={`radio ${on ? 'on' : ''}`} />
      <span className="grow">
        <span className="trunc block">{name}</span>
        {sub !== undefined && <span className="sub trunc">{sub}</span>}
      </span>
    </button>
  )
}
