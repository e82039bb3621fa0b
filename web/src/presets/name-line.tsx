import { Pencil } from 'lucide-react'
import { useState } from 'react'
import type { KeyboardEvent } from 'react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { placeOf } from './actions.ts'
import { presetAbout, presetName } from './display.ts'

/** Name and description; one's own are rewritten in place. An empty field takes the text out of the document. */
export function NameLine({ preset }: { preset: PresetRow }) {
  const t = useT()
  const [editing, setEditing] = useState(false)
  const name = presetName(preset, t)
  const about = presetAbout(preset, t)
  if (editing) return <Form preset={preset} onDone={() => setEditing(false)} />
  return (
    <>
      <div className="flex">
        <h2 className="pset-name trunc">{name}</h2>
        {name !== preset.id && <span className="mono-s t3">{preset.id}</span>}
        {preset.own && (
          <IconButton look="sm" label={t('presets.rename')} onClick={() => setEditing(true)}>
            <Pencil size={14} />
          </IconButton>
        )}
      </div>
      {about !== '' && <p className="pset-about">{about}</p>}
    </>
  )
}

function Form({ preset, onDone }: { preset: PresetRow; onDone(): void }) {
  const t = useT()
  const [name, setName] = useState(preset.name ?? '')
  const [about, setAbout] = useState(preset.description ?? '')
  const [saving, setSaving] = useState(false)
  const save = async () => {
    setSaving(true)
    const texts = { name: name.trim() || null, description: about.trim() || null }
    const outcome = await run('preset.describe', { preset: preset.id, ...texts }, { place: placeOf(preset.id) })
    setSaving(false)
    if (outcome.ok) onDone()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') onDone()
    if (event.key === 'Enter' && (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      void save()
    }
  }
  return (
    <div className="stack name-form" onKeyDown={onKeyDown}>
      <label className="field">
        <span className="sr">{t('presets.name')}</span>
        <input
          autoFocus
          value={name}
          maxLength={200}
          placeholder={preset.id}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <textarea
        aria-label={t('presets.about')}
        placeholder={t('presets.about')}
        rows={2}
        maxLength={4000}
        value={about}
        onChange={(event) => setAbout(event.target.value)}
      />
      <span className="flex">
        <Button look="pri" off={saving ? t('presets.saving') : undefined} onClick={() => void save()}>
          {t('save')}
        </Button>
        <Button look="ghost" onClick={onDone}>
          {t('cancel')}
        </Button>
      </span>
    </div>
  )
}
