import type { EventData } from '../wire/events.ts'
import type { RequestHeader } from '../wire/messages.ts'
import type { GenerationRef } from '../wire/presets.ts'
import type { Projection } from './projection.ts'

export interface RequestState {
  header: RequestHeader | null
  compositionDigest: string | null
  composition: GenerationRef | null
  /** `seq` of the latest header. */
  headerSeq: number | null
  /** `seq` of the header that began the current series of requests over one prefix. */
  seriesSeq: number | null
  context: EventData['request/context'] | null
  /** Where the prompt of the latest request came from; null where no origins were logged yet. */
  origins: EventData['request/origins'] | null
}

/** What the latest request was made of; the next one logs a header only when it differs. */
export const request: Projection<RequestState> = {
  key: 'request',
  stateVersion: 2,
  init: () => ({
    header: null,
    compositionDigest: null,
    composition: null,
    headerSeq: null,
    seriesSeq: null,
    context: null,
    origins: null,
  }),
  apply(state, event) {
    switch (event.type) {
      case 'request/header':
        return {
          ...state,
          header: event.data.header,
          compositionDigest: event.data.compositionDigest,
          composition: event.data.composition ?? null,
          headerSeq: event.seq,
          seriesSeq: state.seriesSeq === null || event.data.startsSeries ? event.seq : state.seriesSeq,
        }
      case 'request/context':
        return { ...state, context: event.data }
      case 'request/origins':
        return { ...state, origins: event.data }
      default:
        return state
    }
  },
}
