import type { Projection } from './projection.ts'

export interface AgentPresetState {
  /** From the header of this session, frozen at creation. */
  created: string | null
  current: string | null
}

/** The preset that holds now. A fork starts again from its own header: inherited selections do not count (H-17). */
export const agentPreset: Projection<AgentPresetState> = {
  key: 'agentPreset',
  stateVersion: 1,
  init: (header) => ({ created: header.agentPreset ?? null, current: header.agentPreset ?? null }),
  apply(state, event) {
    switch (event.type) {
      case 'agent-preset/selected':
        return withCurrent(state, event.data.agentPreset)
      case 'session/end-seed':
        return event.data.inherited ? withCurrent(state, state.created) : state
      default:
        return state
    }
  },
}

const withCurrent = (state: AgentPresetState, current: string | null): AgentPresetState =>
  state.current === current ? state : { ...state, current }
