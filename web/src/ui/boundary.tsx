import { Component } from 'react'
import type { ReactNode } from 'react'
import { t } from '../i18n/i18n.ts'
import { Button } from './button.tsx'
import { copyText } from './problems.tsx'

/** A bug in one place must not leave an empty window: it says what happened, and drafts are in storage already. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined }

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (!error) return this.props.children
    return (
      <main className="empty" style={{ height: '100dvh' }} role="alert">
        <h2>{t('boundary.title')}</h2>
        <p>{t('boundary.kept')}</p>
        <p className="mono">{error.message}</p>
        <div className="flex">
          <Button look="pri" onClick={() => window.location.reload()}>
            {t('boundary.reload')}
          </Button>
          <Button onClick={() => void copyText(error.stack ?? error.message)}>{t('problem.copy')}</Button>
        </div>
      </main>
    )
  }
}
