import type { Header, LogEvent } from '../wire/events.ts'

/** A pure synchronous fold of a session's log. The same reference returned means: nothing changed. */
export interface Projection<S> {
  key: string
  stateVersion: number
  init(header: Header): S
  apply(state: S, event: LogEvent): S
}

export const fold = <S>(projection: Projection<S>, header: Header, events: Iterable<LogEvent>): S => {
  let state = projection.init(header)
  for (const event of events) state = projection.apply(state, event)
  return state
}
