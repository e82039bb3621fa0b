import { useState } from 'react'
import type { PresetSource } from '../../../../server/wire/presets.ts'
import { presetVersion } from '../../api.ts'
import { useT } from '../../i18n/i18n.ts'
import { DiffView } from '../../transcript/cards.tsx'
import { Button } from '../../ui/button.tsx'
import { Modal } from '../../ui/pop.tsx'
import { textHunks } from '../compare.ts'
import { Failed } from '../../ui/failed.tsx'
import { useAnswer } from '../resource.ts'

interface Props {
  source: PresetSource
  /** The text in the editor. */
  now: string
  onBring(text: string): void
  onClose(): void
}

const when = (ms: number): string => new Date(ms).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** Earlier texts of a document, each as the difference to the one in the editor. */
export function Versions({ source, now, onBring, onClose }: Props) {
  const t = useT()
  const [picked, setPicked] = useState(source.versions[0]?.version)
  return (
    <Modal title={t('presets.versions')} wide onClose={onClose}>
      {source.versions.length === 0 && <p className="hint pad">{t('presets.noVersions')}</p>}
      {source.versions.length > 0 && (
        <div className="versions">
          <ul aria-label={t('presets.versions')}>
            {source.versions.map(({ version, savedAt, bytes }) => (
              <li key={version}>
                <button
                  type="button"
                  className="opt"
                  data-testid="preset-version"
                  aria-pressed={version === picked}
                  onClick={() => setPicked(version)}
                >
                  <span className="num">{when(savedAt)}</span>
                  <span className="sub num">{t('presets.bytes', { n: bytes.toLocaleString('en-US') })}</span>
                </button>
              </li>
            ))}
          </ul>
          {picked !== undefined && (
            <Version key={picked} preset={source.preset} version={picked} now={now} onBring={onBring} />
          )}
        </div>
      )}
    </Modal>
  )
}

interface VersionProps extends Pick<Props, 'now' | 'onBring'> {
  preset: string
  version: string
}

function Version({ preset, version, now, onBring }: VersionProps) {
  const t = useT()
  const answer = useAnswer(`${preset} ${version}`, '', () => presetVersion(preset, version))
  if (answer.kind === 'loading') return <div className="skel" style={{ height: 160 }} aria-busy="true" />
  if (answer.kind === 'failed') return <Failed error={answer.error} again={answer.again} />
  const { text } = answer.value
  const hunks = textHunks(now, text)
  return (
    <div className="version">
      <p className="t3 t12">{t(hunks.length === 0 ? 'presets.versionSame' : 'presets.versionDiff')}</p>
      {hunks.length > 0 && (
        <div className="card clip">
          <DiffView hunks={hunks} />
        </div>
      )}
      <div className="flex">
        <Button
          look="pri"
          off={hunks.length === 0 ? t('presets.versionSame') : undefined}
          onClick={() => onBring(text)}
        >
          {t('presets.bringBack')}
        </Button>
        <span className="t3 t12">{t('presets.bringWhat')}</span>
      </div>
    </div>
  )
}
