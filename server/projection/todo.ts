import type { EventData } from '../wire/events.ts'
import type { Projection } from './projection.ts'

export type Todo = EventData['todo/write']['todos'][number]

export const todo: Projection<readonly Todo[]> = {
  key: 'todo',
  stateVersion: 1,
  init: () => [],
  apply: (state, event) => (event.type === 'todo/write' ? event.data.todos : state),
}
