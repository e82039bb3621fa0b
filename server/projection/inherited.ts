import type { Projection } from './projection.ts'

/** `seq` of the event that ends what this session inherited from another; null when it inherited nothing. */
export const inherited: Projection<number | null> = {
  key: 'inherited',
  stateVersion: 1,
  init: () => null,
  apply: (state, event) => (event.type === 'session/end-seed' && event.data.inherited ? event.seq : state),
}
