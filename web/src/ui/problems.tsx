import { CircleX, Copy, X } from 'lucide-react'
import { useShallow } from 'zustand/react/shallow'
import { t as translate, useT } from '../i18n/i18n.ts'
import type { Key } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import type { Route } from '../router.ts'
import { dismissProblem, toast, useApp } from '../store/store.ts'
import type { Problem } from '../store/store.ts'
import { Button, IconButton } from './button.tsx'

/** Rejected commands of one place, each with its code and a next step, until they are dealt with. */
export function Problems({ place }: { place: string }) {
  const problems = useApp(useShallow((app) => app.problems.filter((problem) => problem.place === place)))
  return problems.map((problem) => <ProblemCard key={problem.id} problem={problem} />)
}

interface Next {
  label: Key
  to: Route
}

/** Where to go for a refusal that trying again does not cure. */
const NEXT: Partial<Record<Problem['error']['code'], Next>> = {
  'session/model-not-configured': { label: 'problem.models', to: { place: 'settings', page: 'models' } },
  'session/model-unavailable': { label: 'problem.models', to: { place: 'settings', page: 'models' } },
  'provider/not-found': { label: 'problem.models', to: { place: 'settings', page: 'models' } },
  'credential/invalid': { label: 'problem.models', to: { place: 'settings', page: 'models' } },
  'agent-preset/not-found': { label: 'problem.presets', to: { place: 'presets' } },
  'agent-preset/invalid': { label: 'problem.presets', to: { place: 'presets' } },
  'agent-preset/locked': { label: 'problem.new', to: { place: 'new' } },
  'session/not-found': { label: 'problem.new', to: { place: 'new' } },
  'permission/unusable': { label: 'problem.permissions', to: { place: 'settings', page: 'permissions' } },
  'permission/not-found': { label: 'problem.permissions', to: { place: 'settings', page: 'permissions' } },
  'workspace/not-found': { label: 'problem.new', to: { place: 'new' } },
}

function ProblemCard({ problem }: { problem: Problem }) {
  const t = useT()
  const { error, retry } = problem
  const next = NEXT[error.code]
  const settle = () => dismissProblem(problem.id)
  return (
    <div className="problem" role="alert">
      <div className="what">
        <CircleX size={14} />
        <div className="grow">
          <span className="m">{t(titleOf(problem))}</span>
          <p>
            {error.message} <span className="mono-s">{error.code}</span>
          </p>
        </div>
      </div>
      <div className="acts">
        {next && (
          <Button
            look="pri"
            onClick={() => {
              settle()
              navigate(next.to)
            }}
          >
            {t(next.label)}
          </Button>
        )}
        {retry && (
          <Button
            look={next ? '' : 'pri'}
            onClick={() => {
              settle()
              retry()
            }}
          >
            {t('problem.retry')}
          </Button>
        )}
        <span className="right flex">
          <IconButton label={t('problem.copy')} onClick={() => void copyText(JSON.stringify(problem.error, null, 2))}>
            <Copy size={14} />
          </IconButton>
          <IconButton label={t('problem.dismiss')} onClick={settle}>
            <X size={14} />
          </IconButton>
        </span>
      </div>
    </div>
  )
}

function titleOf({ command }: Problem): Key {
  const known: Partial<Record<Problem['command'], Key>> = {
    load: 'problem.load',
    'session.create': 'problem.create',
    'session.prompt': 'problem.prompt',
    'session.stop': 'problem.stop',
    'session.fork': 'problem.fork',
    'preset.select': 'problem.preset',
    'preset.default': 'problem.presetDefault',
    'preset.save': 'problem.presetSave',
    'preset.copy': 'problem.presetNew',
    'preset.import': 'problem.presetNew',
    'preset.describe': 'problem.presetChange',
    'preset.delete': 'problem.presetDelete',
    'preset.move-blank': 'problem.presetMove',
    'model.select': 'problem.model',
    'model.default': 'problem.model',
    'workspace.add': 'problem.workspace',
    'credential.set': 'problem.key',
    'provider.save': 'problem.provider',
    'provider.reset': 'problem.provider',
    'provider.test': 'problem.test',
    'model.facts': 'problem.settings',
    'budget.save': 'problem.settings',
    'titles.save': 'problem.settings',
  }
  return known[command] ?? 'problem.other'
}

/** The clipboard is absent on plain http beyond this machine; then the page says so instead of pretending. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(translate('copied'), { tone: 'ok', ms: 2000 })
  } catch {
    toast(translate('copy.refused'), { tone: 'warn' })
  }
}
