import { snippetCompletion } from '@codemirror/autocomplete'
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import type { PresetVocabulary } from '../../../../server/wire/presets.ts'
import { placeAt } from './place.ts'
import type { Place } from './place.ts'
import { keyOffers, valueOffers } from './schema.ts'
import type { Offer } from './schema.ts'

/** Offers what the running host knows: names of rows, keys of their config, values that a schema lists. */
export function vocabularySource(vocabulary: () => PresetVocabulary | undefined): CompletionSource {
  return (context) => {
    const words = vocabulary()
    const line = context.state.doc.lineAt(context.pos)
    const column = context.pos - line.from
    const tag = /(?::|-)\s+(!\w*!?\w*)$/.exec(line.text.slice(0, column))
    if (tag) return { from: context.pos - tag[1]!.length, options: [jsSnippet], filter: false }
    const place = placeAt(context.state.doc.toJSON(), line.number - 1, column)
    if (!place || !words) return null
    return offer(place, words, { context, lineFrom: line.from })
  }
}

/** The one row of a document, which is none that a preset may carry. */
const DOCUMENT = {
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    description: { type: 'string' },
    order: { type: 'number' },
    plugins: { type: 'array' },
  },
}

const jsSnippet: Completion = snippetCompletion('!!js ${expression}', { label: '!!js', type: 'keyword' })

function offer(place: Place, words: PresetVocabulary, at: { context: CompletionContext; lineFrom: number }) {
  const options = optionsFor(place, words)
  if (options.length === 0) return null
  // An empty place is asked about by hand, except for a value: after the colon only the list tells what there is.
  if (place.typed === '' && place.kind === 'config-key' && !at.context.explicit) return null
  return { from: at.lineFrom + place.from, options, validFor: /^[\w:@./-]*$/ } satisfies CompletionResult
}

function optionsFor(place: Place, words: PresetVocabulary): Completion[] {
  if (place.kind === 'row-name')
    return words.rows.map(({ name, about }) => ({ label: name, type: 'class', ...(about && { info: about }) }))
  const config = place.row === 'agent-preset' ? DOCUMENT : words.rows.find((row) => row.name === place.row)?.config
  if (place.kind === 'config-value')
    return [
      ...valueOffers(config, place.path, place.key).map((found) => completion(found, 'enum')),
      ...(place.typed === '' ? [jsSnippet] : []),
    ]
  return keyOffers(config, place.path, place.taken).map((found) => ({
    ...completion(found, 'property'),
    apply: `${found.label}: `,
  }))
}

const completion = ({ label, detail, about }: Offer, type: string): Completion => ({
  label,
  type,
  ...(detail && { detail }),
  ...(about && { info: about }),
})
