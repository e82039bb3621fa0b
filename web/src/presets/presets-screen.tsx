import { CircleX, Clock, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { WireError } from '../../../server/wire/errors.ts'
import type { PresetRow } from '../../../server/wire/views.ts'
import { presetDocument } from '../api.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { useNewSession } from '../new-session/state.ts'
import { linkTo, navigate } from '../router.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { useTitle } from '../ui/hooks.ts'
import { copyText } from '../ui/problems.tsx'
import { RailButton } from '../ui/rail-button.tsx'
import { presetAbout, presetName } from './display.ts'
import { Yaml } from './yaml.tsx'

export function PresetsScreen({ id }: { id?: string | undefined }) {
  const t = useT()
  const presets = useApp((app) => app.global?.presets)
  const shown = presets?.find((preset) => preset.id === id) ?? (id === undefined ? presets?.[0] : undefined)
  useTitle(shown?.id ?? t('presets'))
  return (
    <div className="main">
      <header className="head">
        <RailButton />
        <h1>{t('presets')}</h1>
        <span className="t3 t12 trunc wide-only">{t('presets.what')}</span>
      </header>
      <div className="two presets">
        <nav className="plist" aria-label={t('presets')}>
          {presets?.map((preset) => (
            <Line key={preset.id} preset={preset} on={preset.id === shown?.id} />
          ))}
        </nav>
        <main className="cont">
          {shown && <Details key={shown.id} preset={shown} />}
          {presets && !shown && <p className="t3">{t('preset.notHere', { id: id ?? '' })}</p>}
        </main>
      </div>
    </div>
  )
}

function Line({ preset, on }: { preset: PresetRow; on: boolean }) {
  const t = useT()
  return (
    <a className="pl" {...linkTo({ place: 'presets', id: preset.id })} aria-current={on ? 'page' : undefined}>
      <span className="flex">
        <span className="b trunc">{preset.id}</span>
        <span className="tag">G{preset.generation}</span>
        <span className="right">
          {preset.broken !== undefined && (
            <span className={`tag ${preset.waiting ? 'warn' : 'fail'}`}>
              {t(preset.waiting ? 'preset.waiting' : 'preset.broken')}
            </span>
          )}
          {preset.broken === undefined && preset.isDefault && <span className="tag line">{t('preset.default')}</span>}
        </span>
      </span>
      <p className="trunc">{presetAbout(preset, t) || t('preset.tools', { n: preset.tools.length })}</p>
    </a>
  )
}

function Details({ preset }: { preset: PresetRow }) {
  const t = useT()
  const Icon = preset.waiting ? Clock : CircleX
  const use = () => {
    useNewSession.setState({ preset: preset.id })
    navigate({ place: 'new' })
  }
  return (
    <div className="in">
      <section>
        <div className="hd">
          <div>
            <h2>{presetName(preset, t)}</h2>
            <p>{presetAbout(preset, t) || preset.id}</p>
          </div>
          <span className="right" />
          <Button look="pri" off={preset.broken} onClick={use}>
            {t('preset.use')}
          </Button>
        </div>
        {preset.broken !== undefined && (
          <p className={`note ${preset.waiting ? 'warn' : 'fail'}`} style={{ marginBottom: 8 }}>
            <Icon size={14} />
            <span>{preset.broken}</span>
          </p>
        )}
        <dl className="card rows">
          <div className="kv-row">
            <dt>{t('preset.generation')}</dt>
            <dd>G{preset.generation}</dd>
          </div>
          <div className="kv-row">
            <dt>{t('preset.cost')}</dt>
            <dd className="num">
              {preset.tokens === undefined ? t('preset.unknown') : `${thousands(preset.tokens)} ${t('preset.before')}`}
            </dd>
          </div>
          {preset.tools.map((tool) => (
            <div key={tool.name} className="kv-row">
              <dt className="mono">{tool.name}</dt>
              <dd className="t2 t12">{tool.description.split('\n')[0]}</dd>
            </div>
          ))}
        </dl>
      </section>
      {preset.prompt !== '' && (
        <section>
          <div className="hd">
            <div>
              <h2>{t('preset.prompt')}</h2>
              <p>{t('preset.promptWhat')}</p>
            </div>
          </div>
          <pre className="yaml" style={{ padding: '8px 12px', whiteSpace: 'pre-wrap' }}>
            {preset.prompt}
          </pre>
        </section>
      )}
      <Document id={preset.id} />
    </div>
  )
}

type State = { kind: 'loading' } | { kind: 'shown'; content: string } | { kind: 'failed'; error: WireError }

function Document({ id }: { id: string }) {
  const t = useT()
  const [state, setState] = useState<State>({ kind: 'loading' })
  useEffect(() => {
    let current = true
    void presetDocument(id).then((answer) => {
      if (!current) return
      setState(answer.ok ? { kind: 'shown', content: answer.value.content } : { kind: 'failed', error: answer.error })
    })
    return () => {
      current = false
    }
  }, [id])
  return (
    <section>
      <div className="hd">
        <div>
          <h2>{t('preset.document')}</h2>
          <p>{t('preset.documentWhat')}</p>
        </div>
        <span className="right" />
        {state.kind === 'shown' && (
          <Button onClick={() => void copyText(state.content)}>
            <Copy size={14} />
            {t('copy')}
          </Button>
        )}
      </div>
      {state.kind === 'loading' && <div className="card" style={{ height: 160 }} aria-busy="true" />}
      {state.kind === 'shown' && <Yaml text={state.content} />}
      {state.kind === 'failed' && (
        <p className="note fail" role="alert">
          <span>
            {state.error.message} <span className="mono-s">{state.error.code}</span>
          </span>
        </p>
      )}
    </section>
  )
}
