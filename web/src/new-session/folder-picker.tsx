import { ArrowUp, Folder } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { WireError } from '../../../server/wire/errors.ts'
import type { DirectoryListing } from '../../../server/wire/views.ts'
import type { Outcome } from '../connection/connection.ts'
import { ImeGuard } from '../composer/ime.ts'
import { shortPath } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Modal } from '../ui/pop.tsx'

interface Props {
  onAdded?: ((workspace: string) => void) | undefined
  onClose(): void
}

/** Folders of the host, not of this computer. */
export function FolderPicker({ onAdded, onClose }: Props) {
  const t = useT()
  const home = useApp((app) => app.global?.host.home)
  const { listing, moves, error, browse, settled } = useBrowse()
  const [refused, setRefused] = useState<WireError>()
  const [busy, setBusy] = useState(false)
  const add = async (confirmed: boolean) => {
    if (busy) return
    setBusy(true)
    const at = await settled()
    const outcome = at && (await run('workspace.add', { path: at.path, confirmed }, { place: 'none' }))
    setBusy(false)
    if (!outcome) return
    if (!outcome.ok) return setRefused(outcome.error)
    onAdded?.(outcome.result.workspace.id)
    onClose()
  }
  const asks = refused?.details?.['confirm'] === true
  return (
    <Modal title={t('folder.title')} onClose={onClose}>
      <PathField
        key={moves}
        path={listing?.path ?? ''}
        onGo={(path) => {
          setRefused(undefined)
          browse(path)
        }}
      />
      <Listing
        listing={listing}
        onGo={(path) => {
          setRefused(undefined)
          browse(path)
        }}
      />
      {(error ?? refused) && (
        <p className="note warn" role="alert" style={{ margin: '0 16px 12px' }}>
          <span>
            {(error ?? refused)?.message} <span className="mono-s">{(error ?? refused)?.code}</span>
          </span>
        </p>
      )}
      <div className="dialog-foot">
        <span className="mono t3 trunc">{listing ? shortPath(listing.path, home) : ''}</span>
        <span className="right" />
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button look="pri" data-testid="use-folder" onClick={() => void add(asks)}>
          {t(asks ? 'folder.useAnyway' : 'folder.use')}
        </Button>
      </div>
    </Modal>
  )
}

function useBrowse() {
  const [listing, setListing] = useState<DirectoryListing>()
  // Counts the moves that a person made: what was typed before the first listing came must outlast it.
  const [moves, setMoves] = useState(0)
  const [error, setError] = useState<WireError>()
  // The folder that was asked for last: whoever confirms before it is shown means that one.
  const asked = useRef<Promise<Outcome<'workspace.browse'>>>(undefined)
  const browse = useCallback((path?: string) => {
    const answer = run('workspace.browse', path === undefined ? {} : { path }, { place: 'none' })
    asked.current = answer
    void answer.then((outcome) => {
      if (asked.current !== answer) return
      setError(outcome.ok ? undefined : outcome.error)
      if (!outcome.ok) return
      setListing(outcome.result)
      if (path !== undefined) setMoves((count) => count + 1)
    })
  }, [])
  const settled = async () => {
    const outcome = await asked.current
    return outcome?.ok ? outcome.result : undefined
  }
  useEffect(() => browse(), [browse])
  return { listing, moves, error, browse, settled }
}

function PathField({ path, onGo }: { path: string; onGo(path: string): void }) {
  const t = useT()
  const [typed, setTyped] = useState<string>()
  const [ime] = useState(() => new ImeGuard())
  return (
    <div style={{ padding: '0 16px 8px' }}>
      <label className="field">
        <Folder size={14} />
        <input
          className="mono"
          aria-label={t('folder.path')}
          value={typed ?? path}
          spellCheck={false}
          onChange={(event) => setTyped(event.target.value)}
          onCompositionStart={ime.start}
          onCompositionEnd={ime.end}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || ime.owns(event)) return
            event.preventDefault()
            onGo((typed ?? path).trim())
          }}
        />
        {typed !== undefined && typed !== path && <kbd>Enter</kbd>}
      </label>
    </div>
  )
}

function Listing({ listing, onGo }: { listing: DirectoryListing | undefined; onGo(path: string): void }) {
  const t = useT()
  if (!listing)
    return (
      <div className="folders" aria-busy="true">
        {[120, 90, 160].map((width) => (
          <div key={width} className="skel" style={{ width, margin: '10px 8px' }} />
        ))}
      </div>
    )
  return (
    <div className="folders" role="listbox" aria-label={t('folder.list')}>
      {listing.parent !== undefined && (
        <button type="button" role="option" aria-selected={false} onClick={() => onGo(listing.parent ?? '/')}>
          <ArrowUp size={14} />
          {t('folder.up')}
        </button>
      )}
      {listing.folders.map((folder) => (
        <button key={folder.path} type="button" role="option" aria-selected={false} onClick={() => onGo(folder.path)}>
          <Folder size={14} />
          <span className="trunc">{folder.name}</span>
        </button>
      ))}
      {listing.problem !== undefined && <p className="note warn">{listing.problem}</p>}
      {listing.folders.length === 0 && listing.problem === undefined && (
        <p className="t3 t12" style={{ padding: 8 }}>
          {t('folder.empty')}
        </p>
      )}
    </div>
  )
}
