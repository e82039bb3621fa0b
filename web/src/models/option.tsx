import { Image } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ModelView, ProviderView } from '../../../server/wire/views.ts'
import { priceText, tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import type { Line } from './listing.ts'

interface Props {
  line: Exclude<Line, { kind: 'head' }>
  id: string
  /** Of the options, from 1, and how many there are: only a part of them is in the document. */
  place: [number, number]
  on: boolean
  at: boolean
  origin: string
  onPick(): void
}

export function Option({ line, id, place: [index, count], on, at, origin, onPick }: Props) {
  const t = useT()
  const use = line.kind === 'use'
  const failing = line.provider.problem !== undefined
  return (
    <button
      type="button"
      role="option"
      id={id}
      tabIndex={-1}
      aria-selected={on}
      aria-posinset={index}
      aria-setsize={count}
      className={`opt ${on ? 'on' : ''} ${at ? 'at' : ''}`}
      onClick={onPick}
    >
      <span className={`radio ${on ? 'on' : failing || use ? 'gone' : ''}`} />
      <span className="grow">
        <span className="nm">
          <span className="trunc">
            {use ? t('model.use', { provider: line.provider.id, model: line.id }) : line.model.id}
          </span>
          {!use && line.model.inputs.includes('image') && (
            <span className="sees" title={t('model.image')}>
              <Image size={13} aria-hidden="true" />
              <span className="sr">{t('model.image')}</span>
            </span>
          )}
        </span>
        <span className="sub trunc">
          {use ? t('model.useWhat') : <Facts line={line} lead={on ? t('model.inEffect', { origin }) : undefined} />}
        </span>
      </span>
    </button>
  )
}

function Facts({ line, lead }: { line: Extract<Line, { kind: 'choice' }>; lead: string | undefined }): ReactNode {
  const t = useT()
  const { provider, model, recent } = line
  return (
    <>
      {recent ? `${provider.label} · ` : <span className="sr">{provider.label} · </span>}
      {lead && `${lead} · `}
      <span title={sourceOf(t, model)}>{factsOf(t, model)}</span>
    </>
  )
}

export function factsOf(t: T, model: ModelView): string {
  const window = model.contextWindow === undefined ? '' : t('model.window', { n: tokens(model.contextWindow) })
  const price = model.price
    ? t('model.perMillion', { in: priceText(model.price.in), out: priceText(model.price.out) })
    : t('model.noPrice')
  return [window, price].filter(Boolean).join(', ')
}

/** Who says so, and since when. */
export function sourceOf(t: T, model: ModelView): string {
  const edited = model.edited?.length ? t('model.figuresEdited', { fields: model.edited.join(', ') }) : ''
  const given = model.figures ? t('model.figures', { source: model.figures.source, date: model.figures.date }) : ''
  return [given, edited].filter(Boolean).join(' ') || t('model.figuresNone')
}

export function Head({ provider, count }: { provider: ProviderView | undefined; count: number }) {
  const t = useT()
  if (!provider)
    return (
      <div className="opt-head" role="presentation">
        {t('model.recent')}
      </div>
    )
  const { problem } = provider
  return (
    <div className="opt-head" role="presentation">
      <span className="trunc">{provider.label}</span>
      <span className="state">
        {problem === undefined ? (
          t(`model.key.${provider.key}`)
        ) : (
          <span className="fail" title={problem}>
            {t('model.failing')}
          </span>
        )}
      </span>
      <span className="right num">{count}</span>
    </div>
  )
}
