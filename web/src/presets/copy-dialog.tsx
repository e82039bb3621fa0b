import { useState } from 'react'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Modal } from '../ui/pop.tsx'
import { Problems } from '../ui/problems.tsx'
import { firstOf } from './actions.ts'
import { openPresetDialog } from './dialogs.ts'
import { presetName } from './display.ts'
import { freeId, idProblem } from './ids.ts'

/** A new preset begins as a copy; it is opened in the editor. */
export function CopyDialog({ from: asked }: { from: string | undefined }) {
  const t = useT()
  const presets = useApp((app) => app.global?.presets) ?? []
  const [from, setFrom] = useState(asked ?? firstOf(presets)?.id ?? '')
  const [typedId, setId] = useState<string>()
  const [name, setName] = useState('')
  const [busy, setBusy] = useState(false)
  const id = typedId ?? freeId(from, presets)
  const problem = idProblem(id, presets)
  const off = busy ? t('presets.saving') : problem && t(problem)
  const close = () => openPresetDialog(undefined)
  const copy = async () => {
    if (off !== undefined) return
    setBusy(true)
    const texts = name.trim() === '' ? {} : { name: name.trim() }
    const outcome = await run(
      'preset.copy',
      { from, id, ...texts },
      { place: 'preset-dialog', retry: () => void copy() },
    )
    setBusy(false)
    if (!outcome.ok) return
    close()
    navigate({ place: 'presets', id: outcome.result.preset, tab: 'edit' })
  }
  return (
    <Modal title={t('presets.newTitle')} onClose={close}>
      <form
        className="pform"
        onSubmit={(event) => {
          event.preventDefault()
          void copy()
        }}
      >
        <label>
          <span className="lbl">{t('presets.from')}</span>
          <span className="field">
            <select value={from} onChange={(event) => setFrom(event.target.value)}>
              {presets.map((preset) => (
                <option key={preset.id} value={preset.id}>
                  {presetName(preset, t) === preset.id ? preset.id : `${presetName(preset, t)} (${preset.id})`}
                </option>
              ))}
            </select>
          </span>
        </label>
        <IdField value={id} problem={problem && t(problem)} onChange={setId} />
        <label>
          <span className="lbl">{t('presets.nameOptional')}</span>
          <span className="field">
            <input value={name} maxLength={200} placeholder={id} onChange={(event) => setName(event.target.value)} />
          </span>
        </label>
        <Problems place="preset-dialog" />
        <div className="dialog-foot">
          <span className="t3 t12 grow">{t('presets.copyWhat')}</span>
          <Button look="pri" type="submit" off={off} data-testid="copy-preset">
            {t('presets.copyDo')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

interface IdProps {
  value: string
  problem: string | undefined
  onChange(id: string): void
}

export function IdField({ value, problem, onChange }: IdProps) {
  const t = useT()
  return (
    <label>
      <span className="lbl">{t('presets.id')}</span>
      <span className={`field ${problem === undefined ? '' : 'bad'}`}>
        <input
          className="mono"
          autoFocus
          spellCheck={false}
          autoCapitalize="off"
          value={value}
          maxLength={64}
          data-testid="preset-id"
          aria-invalid={problem !== undefined}
          aria-describedby="preset-id-note"
          onChange={(event) => onChange(event.target.value)}
        />
      </span>
      <span id="preset-id-note" role="status" className={`t12 id-note ${problem === undefined ? 't3' : 'fail'}`}>
        {problem ?? t('presets.idFree', { id: value })}
      </span>
    </label>
  )
}
