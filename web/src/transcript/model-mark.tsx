import type { ModelMark } from '../../../server/projection/transcript-items.ts'
import { timeOfDay } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'

/** One quiet line: from what to what. The provider's name stands where it changed, too. */
export function ModelMarkLine({ mark, time }: { mark: ModelMark; time: number }) {
  const t = useT()
  const { from } = mark
  const moved = !from || from.provider !== mark.provider
  const name = ({ provider, model }: { provider: string; model: string }) => (moved ? `${provider}/${model}` : model)
  const to = name(mark)
  const effort = mark.reasoningEffort
  const other = from?.reasoningEffort !== effort
  const words = [
    from ? t('mark.model', { from: name(from), to }) : t('mark.modelTo', { to }),
    effort !== undefined && t('mark.effort', { effort }),
    effort === undefined && other && from && t('mark.effortUnset'),
    !mark.used && t('mark.pending'),
  ]
  return (
    <div className="mark" data-testid="model-mark" data-used={mark.used === true}>
      <span className="trunc" title={mark.told}>
        {words.filter(Boolean).join(', ')}
      </span>
      <span className="num">{timeOfDay(time)}</span>
    </div>
  )
}
