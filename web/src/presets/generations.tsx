import { ArrowUpToLine } from 'lucide-react'
import { useState } from 'react'
import type { CommandResults } from '../../../server/wire/commands.ts'
import type { GenerationView, PresetUsage } from '../../../server/wire/presets.ts'
import type { PresetRow } from '../../../server/wire/views.ts'
import { presetUsage } from '../api.ts'
import { useT } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { placeOf } from './actions.ts'
import { Failed } from '../ui/failed.tsx'
import { Bones, Head } from './gives.tsx'
import { revisionOf, useAnswer } from './resource.ts'

/** Who uses what: every generation that is still held, with its sessions. */
export function Generations({ preset }: { preset: PresetRow }) {
  const t = useT()
  // Sessions come, leave and begin: the list of sessions tells when to ask again.
  const moves = useApp((app) =>
    Object.values(app.rows)
      .filter((row) => row.preset === preset.id)
      .map((row) => `${row.id}:${row.turns}`)
      .join(' '),
  )
  const [moved, setMoved] = useState<CommandResults['preset.move-blank']>()
  const version = `${revisionOf(preset)} ${moves} ${moved?.moved.join(' ') ?? ''}`
  const usage = useAnswer(preset.id, version, () => presetUsage(preset.id))
  const move = async () => {
    const outcome = await run('preset.move-blank', { preset: preset.id }, { place: placeOf(preset.id) })
    if (outcome.ok) setMoved(outcome.result)
  }
  return (
    <div className="in">
      <section>
        <Head title={t('presets.generations')} about={t('presets.generationsWhat')} />
        {usage.kind === 'loading' && <Bones />}
        {usage.kind === 'failed' && <Failed error={usage.error} again={usage.again} />}
        {usage.kind === 'shown' && <Table usage={usage.value} />}
        {usage.kind === 'shown' && <MoveBlank usage={usage.value} onMove={() => void move()} />}
        {moved && <Moved result={moved} />}
      </section>
    </div>
  )
}

function Table({ usage }: { usage: PresetUsage }) {
  const t = useT()
  if (usage.generations.length === 0) return <p className="hint">{t('presets.neverMounted')}</p>
  return (
    <ul className="card rows gens" data-testid="generations">
      {usage.generations.map((generation) => (
        <li key={`${generation.generation} ${generation.digest}`} data-testid="generation">
          <Generation generation={generation} />
        </li>
      ))}
    </ul>
  )
}

function Generation({ generation }: { generation: GenerationView }) {
  const t = useT()
  const { sessions, users, retired } = generation
  const reading = users - sessions.length
  return (
    <>
      <div className="flex gen-head">
        <span className="tag num">G{generation.generation}</span>
        <span className={`m ${retired ? 't2' : ''}`}>{t(retired ? 'presets.retired' : 'presets.current')}</span>
        <span className="t3 t12 num">
          {t('presets.since', {
            time: new Date(generation.mountedAt).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' }),
          })}
        </span>
        <span className="right mono-s t3" title={generation.digest}>
          {generation.digest.slice(0, 8)}
        </span>
      </div>
      <ul className="gen-sessions">
        {sessions.map((session) => (
          <li key={session.session}>
            <a {...linkTo({ place: 'session', id: session.session })} className="trunc">
              {session.title || t('untitled')}
            </a>
            {session.blank && <span className="tag line">{t('presets.blank')}</span>}
          </li>
        ))}
        {sessions.length === 0 && <li className="t3">{t('presets.noSessions')}</li>}
        {reading > 0 && <li className="t3">{t('presets.readers', { n: reading })}</li>}
      </ul>
    </>
  )
}

function MoveBlank({ usage, onMove }: { usage: PresetUsage; onMove(): void }) {
  const t = useT()
  const blanks = usage.generations.filter(({ retired }) => retired).flatMap(({ sessions }) => sessions)
  const count = blanks.filter(({ blank }) => blank).length
  return (
    <div className="flex gens-foot">
      <Button off={count === 0 ? t('presets.noBlank') : undefined} onClick={onMove}>
        <ArrowUpToLine size={14} />
        {t('presets.moveBlank')}
      </Button>
      <span className="t3 t12">{count === 0 ? t('presets.noBlank') : t('presets.blankCount', { n: count })}</span>
    </div>
  )
}

function Moved({ result }: { result: CommandResults['preset.move-blank'] }) {
  const t = useT()
  return (
    <div className={`note ${result.left.length > 0 ? 'warn' : ''}`} role="status" data-testid="moved">
      <div className="grow">
        <p className="m">{t('presets.moved', { n: result.moved.length })}</p>
        {result.left.map(({ session, reason }) => (
          <p key={session} className="t2">
            <a className="at-line" {...linkTo({ place: 'session', id: session })}>
              {session}
            </a>{' '}
            {reason}
          </p>
        ))}
      </div>
    </div>
  )
}
