import type { Projection } from './projection.ts'

export interface StepBoundary {
  kind: 'start' | 'end'
  turn: number
  step: number
  seq: number
}

export interface TurnBoundary {
  /** `seq` of the `turn/start` that has no `turn/end` yet. */
  openTurnStartSeq: number | null
  lastStepStartSeq: number | null
  lastStepBoundary: StepBoundary | null
  /** Highest turn number started; 0 = blank. */
  lastTurn: number
}

/** Where the log stands between turns and steps; an open turn or `lastTurn > 0` means: not blank (H-02). */
export const turnBoundary: Projection<TurnBoundary> = {
  key: 'turnBoundary',
  stateVersion: 1,
  init: () => ({ openTurnStartSeq: null, lastStepStartSeq: null, lastStepBoundary: null, lastTurn: 0 }),
  apply(state, event) {
    switch (event.type) {
      case 'turn/start':
        return { ...state, openTurnStartSeq: event.seq, lastTurn: Math.max(state.lastTurn, event.data.turn) }
      case 'turn/end':
        return { ...state, openTurnStartSeq: null }
      case 'step/start':
        return {
          ...state,
          lastStepStartSeq: event.seq,
          lastStepBoundary: { kind: 'start', ...event.data, seq: event.seq },
        }
      case 'step/end':
        return { ...state, lastStepBoundary: { kind: 'end', ...event.data, seq: event.seq } }
      default:
        return state
    }
  },
}

export const isBlank = (state: TurnBoundary): boolean => state.openTurnStartSeq === null && state.lastTurn === 0
