import { Pencil, Search } from 'lucide-react'
import { useState } from 'react'
import type { ModelView, ProviderView } from '../../../server/wire/views.ts'
import { tokens } from '../i18n/format.ts'
import { navigate } from '../router.ts'
import { Button, IconButton, Tip } from '../ui/button.tsx'
import { FactsDialog } from './facts-dialog.tsx'
import { useText } from './text.ts'
import type { Text } from './text.ts'

/** So many rows stay readable without a search, and so many are drawn at most until more are asked for. */
const SEARCHED_FROM = 10
const DRAWN = 40

export function ModelTable({ provider, opened }: { provider: ProviderView; opened: string | undefined }) {
  const t = useText()
  const [query, setQuery] = useState('')
  const [all, setAll] = useState(false)
  const { models } = provider
  const correct = (model?: string) =>
    navigate(
      { place: 'settings', page: 'models', provider: provider.id, ...(model !== undefined && { model }) },
      'replace',
    )
  const wanted = query.trim().toLowerCase()
  const found = models.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(wanted))
  const drawn = all ? found : found.slice(0, DRAWN)
  const asked = provider.settings && models.find(({ id }) => id === opened)
  return (
    <section aria-label={t('models.of', { name: provider.label })}>
      <div className="flex lbl-row">
        <h3 className="lbl">{t('provider.models', { n: models.length })}</h3>
        {models.length >= SEARCHED_FROM && (
          <label className="field short right">
            <Search size={14} />
            <input
              value={query}
              placeholder={t('model.find')}
              aria-label={t('model.find')}
              onChange={(event) => setQuery(event.target.value)}
            />
          </label>
        )}
      </div>
      {models.length === 0 && <p className="hint">{t('models.none')}</p>}
      {models.length > 0 && found.length === 0 && <p className="hint">{t('model.noMatch', { query })}</p>}
      {found.length > 0 && (
        <div className="card table-box" tabIndex={0} role="group" aria-label={t('models.of', { name: provider.label })}>
          <table className="models">
            <thead>
              <tr>
                {(['model', 'models.window', 'models.inputs', 'models.price', 'effort', 'models.from'] as const).map(
                  (key) => (
                    <th key={key} scope="col">
                      {t(key)}
                    </th>
                  ),
                )}
                {provider.settings && (
                  <th>
                    <span className="sr">{t('models.correct')}</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {drawn.map((model) => (
                <ModelRow key={model.id} model={model} onCorrect={provider.settings && (() => correct(model.id))} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {drawn.length < found.length && (
        <Button look="sm ghost" onClick={() => setAll(true)}>
          {t('models.all', { n: found.length })}
        </Button>
      )}
      {opened !== undefined && provider.settings && (
        <FactsDialog
          provider={provider}
          model={
            asked ?? { id: opened, name: opened, inputs: ['text'], reasoning: false, efforts: [], from: 'settings' }
          }
          onClose={() => correct()}
        />
      )}
    </section>
  )
}

function ModelRow({ model, onCorrect }: { model: ModelView; onCorrect: (() => void) | undefined }) {
  const t = useText()
  const edited = (field: NonNullable<ModelView['edited']>[number]) => model.edited?.includes(field)
  return (
    <tr data-testid="model-row" data-model={model.id}>
      <th scope="row">
        <span className="mono">{model.id}</span>
        {model.edited && model.edited.length > 0 && <span className="tag acc">{t('models.edited')}</span>}
      </th>
      <td className={`num ${edited('contextWindow') ? 'acc' : ''}`}>
        {model.contextWindow === undefined ? <Unknown /> : tokens(model.contextWindow)}
      </td>
      <td className={edited('inputs') ? 'acc' : ''}>{model.inputs.map((input) => t(`input.${input}`)).join(', ')}</td>
      <td className={`num ${edited('price') ? 'acc' : ''}`}>
        {model.price ? (
          <Tip text={priceText(t, model)}>
            <span tabIndex={0}>{t('model.price', { in: model.price.in, out: model.price.out })}</span>
          </Tip>
        ) : onCorrect ? (
          <Button look="sm ghost link" onClick={onCorrect}>
            {t('models.setPrice')}
          </Button>
        ) : (
          <Unknown />
        )}
      </td>
      <td>{model.efforts.length === 0 ? <Unknown /> : model.efforts.map(({ id }) => id).join(', ')}</td>
      <td className="t3">{fromText(t, model)}</td>
      {onCorrect && (
        <td>
          <IconButton look="sm" label={t('models.correctOf', { name: model.id })} onClick={onCorrect}>
            <Pencil size={14} />
          </IconButton>
        </td>
      )}
    </tr>
  )
}

function Unknown() {
  const t = useText()
  return (
    <>
      <span className="t3" aria-hidden>
        –
      </span>
      <span className="sr">{t('models.unknown')}</span>
    </>
  )
}

function priceText(t: Text, { price }: ModelView): string {
  if (!price) return ''
  return [
    t('price.in', { n: price.in }),
    price.cacheRead !== undefined && t('price.cacheRead', { n: price.cacheRead }),
    price.cacheWrite !== undefined && t('price.cacheWrite', { n: price.cacheWrite }),
    t('price.out', { n: price.out }),
    t('price.per'),
  ]
    .filter(Boolean)
    .join(', ')
}

function fromText(t: Text, { from, figures }: ModelView): string {
  if (from !== 'catalog' || !figures) return t(`models.from.${from}`)
  return t('models.figures', { from: t(`models.from.${from}`), source: figures.source, date: figures.date })
}
