import { FolderOpen } from 'lucide-react'
import type { GlobalState } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import { openOverlay } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { presetOf, useNewSession } from './state.ts'

const FIRST = {
  full: 'first.confined',
  partial: 'first.confined',
  none: 'first.not-confined',
  container: 'first.container',
} as const

/** Nothing is here yet: choose a folder, or see a scripted session without any key. */
export function FirstRun({ global }: { global: GlobalState }) {
  const t = useT()
  const demo = global.models.providers.find((provider) => provider.wire === 'demo')
  const model = demo?.models[0]
  const play = async () => {
    const preset = presetOf(global, undefined)?.id
    const outcome = await run(
      'session.create',
      {
        prompt: t('first.demoPrompt'),
        ...(preset !== undefined && { preset }),
        // Said above: nothing confines here, and the script is known.
        ...(global.safety.verdict.enforcement === 'none' && { permission: 'full' }),
        ...(demo && model && { selection: { provider: demo.id, model: model.id, alsoDefault: false } }),
      },
      { place: 'new', retry: () => void play() },
    )
    if (outcome.ok) navigate({ place: 'session', id: outcome.result.session })
  }
  const choose = () => openOverlay({ kind: 'folder', onAdded: (workspace) => useNewSession.setState({ workspace }) })
  return (
    <div className="empty" data-testid="first-run">
      <FolderOpen size={20} strokeWidth={1.5} />
      <h2>{t('first.title')}</h2>
      <p>{t(FIRST[global.safety.verdict.enforcement])}</p>
      <div className="flex">
        <Button look="pri lg" data-testid="choose-folder" onClick={choose}>
          {t('first.choose')}
        </Button>
        {demo && model && (
          <Button look="lg" data-testid="play-demo" onClick={() => void play()}>
            {t('first.demo')}
          </Button>
        )}
      </div>
      <div style={{ width: 'min(520px, 100%)', textAlign: 'left', marginTop: 16 }}>
        <Problems place="new" />
      </div>
    </div>
  )
}
