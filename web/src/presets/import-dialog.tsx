import { FileUp } from 'lucide-react'
import { useRef, useState } from 'react'
import type { DragEvent } from 'react'
import { useT } from '../i18n/i18n.ts'
import { thousands } from '../i18n/format.ts'
import { navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Modal } from '../ui/pop.tsx'
import { Problems } from '../ui/problems.tsx'
import { total } from './compare.ts'
import { IdField } from './copy-dialog.tsx'
import { openPresetDialog } from './dialogs.ts'
import { useCheck } from './edit/use-check.ts'
import type { Checked } from './edit/use-check.ts'
import { idProblem } from './ids.ts'

/** Larger files are no presets; the server takes as much. */
const MAX_BYTES = 2_000_000

/** One document from a file, a drop or the clipboard; it is tried before it is taken in. */
export function ImportDialog({ text: given, file }: { text: string | undefined; file: string | undefined }) {
  const t = useT()
  const presets = useApp((app) => app.global?.presets) ?? []
  const [text, setText] = useState(given ?? '')
  const [typedId, setId] = useState<string>()
  const [busy, setBusy] = useState(false)
  // A text from elsewhere: until somebody imports it, it is read and nothing of it runs.
  const checked = useCheck(text.trim() === '' ? undefined : text, undefined, '', false)
  const { check, fresh } = checked
  const id = typedId ?? check?.preset ?? stemOf(file) ?? ''
  const problem = idProblem(id, presets)
  const errors = (check?.diagnostics ?? []).filter(({ severity }) => severity === 'error').length
  const off = (): string | undefined => {
    if (busy) return t('presets.saving')
    if (text.trim() === '') return t('presets.importFirst')
    if (!fresh) return checked.error?.message ?? t('presets.checking')
    return errors > 0 ? t('presets.fixFirst', { n: errors }) : problem && t(problem)
  }
  const close = () => openPresetDialog(undefined)
  const bringIn = async () => {
    if (off() !== undefined) return
    setBusy(true)
    const outcome = await run('preset.import', { text, id }, { place: 'preset-dialog', retry: () => void bringIn() })
    setBusy(false)
    if (!outcome.ok) return
    close()
    navigate({ place: 'presets', id: outcome.result.preset })
  }
  return (
    <Modal title={t('presets.importTitle')} wide onClose={close}>
      <form
        className="pform"
        onSubmit={(event) => {
          event.preventDefault()
          void bringIn()
        }}
      >
        <Source text={text} onText={setText} />
        {text.trim() !== '' && <Findings checked={checked} />}
        {check && <IdField value={id} problem={problem && t(problem)} onChange={setId} />}
        <Problems place="preset-dialog" />
        <div className="dialog-foot">
          <span className="t3 t12 grow">{t('presets.importWhat')}</span>
          <Button look="pri" type="submit" off={off()} data-testid="import-preset">
            {t('presets.importDo')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

const stemOf = (file: string | undefined): string | undefined => file?.replace(/\.ya?ml$/i, '').toLowerCase()

function Source({ text, onText }: { text: string; onText(text: string): void }) {
  const t = useT()
  const picker = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const [tooLarge, setTooLarge] = useState(false)
  const take = async (file: File | undefined) => {
    if (!file) return
    setTooLarge(file.size > MAX_BYTES)
    if (file.size <= MAX_BYTES) onText(await file.text())
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void take(event.dataTransfer.files[0])
  }
  return (
    <div
      className={`drop ${over ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="flex">
        <Button onClick={() => picker.current?.click()}>
          <FileUp size={14} />
          {t('presets.pickFile')}
        </Button>
        <span className={`t12 ${tooLarge ? 'fail' : 't3'}`}>
          {t(tooLarge ? 'presets.tooLarge' : 'presets.dropHere')}
        </span>
      </div>
      <input
        ref={picker}
        type="file"
        accept=".yml,.yaml,application/yaml,text/yaml"
        hidden
        data-testid="import-file"
        onChange={(event) => {
          void take(event.target.files?.[0])
          event.target.value = ''
        }}
      />
      <textarea
        className="mono"
        rows={8}
        spellCheck={false}
        aria-label={t('preset.document')}
        data-testid="import-text"
        placeholder="- id: my-preset&#10;  name: agent-preset&#10;  config:&#10;    id: my-preset&#10;    plugins:"
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    </div>
  )
}

function Findings({ checked: { check, error, fresh } }: { checked: Checked }) {
  const t = useT()
  if (!check) return <p className="hint">{error ? error.message : t('presets.checking')}</p>
  return (
    <div className={`findings ${fresh ? '' : 'old'}`} role="status" data-testid="import-findings">
      {check.dry && (
        <p className="t12 t2 num">
          {[
            t('preset.tools', { n: check.dry.tools.length }),
            t('presets.tok', { n: thousands(total(check.dry)) }),
          ].join(', ')}
        </p>
      )}
      {check.diagnostics.map((fault, index) => (
        <p key={index} className={`note ${fault.severity === 'error' ? 'fail' : 'warn'}`}>
          <span className="mono-s">
            {fault.line}:{fault.column}
          </span>
          <span>{fault.at === undefined ? fault.message : `${fault.at}: ${fault.message}`}</span>
        </p>
      ))}
      {check.diagnostics.length === 0 && <p className="t12 t3">{t('presets.noFaults')}</p>}
    </div>
  )
}

/** A document dropped anywhere on the screen opens the dialog with it. */
export async function importDropped(file: File): Promise<void> {
  if (file.size <= MAX_BYTES) openPresetDialog({ kind: 'import', text: await file.text(), file: file.name })
  else openPresetDialog({ kind: 'import' })
}
