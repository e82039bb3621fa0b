import { Suspense, lazy, useEffect } from 'react'
import { Composer } from '../composer/composer.tsx'
import { SwitchDelta } from '../new-session/delta.tsx'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import type { PromptPlace } from '../router.ts'
import { openSession, retrySession } from '../store/actions.ts'
import type { OpenSession } from '../store/session-view.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { useTitle } from '../ui/hooks.ts'
import { Problems } from '../ui/problems.tsx'
import { RailButton } from '../ui/rail-button.tsx'
import { Head, Tabs } from './head.tsx'
import { ReadOnly } from './read-only.tsx'
import { TranscriptView } from './transcript.tsx'

const PromptScreen = lazy(async () => ({ default: (await import('../prompt-view/prompt-screen.tsx')).PromptScreen }))

export function SessionScreen({ id, prompt }: { id: string; prompt?: PromptPlace | undefined }) {
  const t = useT()
  const view = useApp((app) => app.sessions[id])
  const title = useTitleOf(id, view?.kind === 'open' ? view : undefined)
  useEffect(() => openSession(id), [id])
  useTitle(title)
  if (view?.kind === 'failed')
    return (
      <div className="main">
        <header className="head">
          <RailButton />
          <h1>{t('session.missing')}</h1>
        </header>
        <div className="empty">
          <h2>{t('session.missing')}</h2>
          <p>
            {view.error.message} <span className="mono-s">{view.error.code}</span>
          </p>
          <div className="flex">
            <Button look="pri" onClick={() => navigate({ place: 'new' })}>
              {t('rail.new')}
            </Button>
            <Button onClick={() => retrySession(id)}>{t('problem.retry')}</Button>
          </div>
        </div>
      </div>
    )
  if (view?.kind !== 'open') return <Skeleton title={title} />
  return (
    <div className="main">
      <Head id={id} view={view} title={title} />
      <Tabs id={id} view={view} at={prompt ? 'prompt' : 'chat'} />
      {prompt ? (
        <>
          <Suspense fallback={<div className="scroll" aria-busy="true" />}>
            <PromptScreen key={id} id={id} view={view} place={prompt} />
          </Suspense>
          <div className="base">
            <Problems place={`session:${id}`} />
          </div>
        </>
      ) : (
        <>
          <TranscriptView key={id} id={id} view={view} />
          <ReadOnly view={view} />
          <SwitchDelta view={view} />
          <Composer id={id} view={view} />
        </>
      )}
    </div>
  )
}

function useTitleOf(id: string, view: OpenSession | undefined): string {
  const t = useT()
  const row = useApp((app) => app.rows[id]?.title)
  return view?.state.title?.title || row || t('untitled')
}

function Skeleton({ title }: { title: string }) {
  return (
    <div className="main" aria-busy="true">
      <header className="head">
        <RailButton />
        <h1 className="trunc">{title}</h1>
      </header>
      <div className="scroll">
        <div className="read stack">
          <div style={{ background: 'var(--hover)', height: 38, borderRadius: 8 }} />
          <div className="skel" style={{ width: '38%' }} />
          <div className="skel" style={{ width: '61%' }} />
          <div className="card stack" style={{ padding: 16, gap: 10 }}>
            <div className="skel" style={{ width: '90%' }} />
            <div className="skel" style={{ width: '64%' }} />
            <div className="skel" style={{ width: '78%' }} />
          </div>
          <div className="skel" style={{ width: '86%' }} />
        </div>
      </div>
      <div className="base">
        <div className="comp" style={{ height: 92 }} />
      </div>
    </div>
  )
}
