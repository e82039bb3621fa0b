import { beforeEach, expect, test } from 'vitest'
import { draft } from '../../../server/wire/events.ts'
import type { LogEvent } from '../../../server/wire/events.ts'
import { settleSwitch, useSwitching } from './switching-state.ts'

beforeEach(() => useSwitching.setState({ asked: { s: 'wanted', other: 'x' }, last: {} }))

const selected = (agentPreset: string): LogEvent => ({
  ...draft('agent-preset/selected', { agentPreset }),
  seq: 1,
  time: 1,
})

test('what was asked for is shown until the log says it', () => {
  settleSwitch({ t: 'events', session: 's', events: [selected('of another tab')] })
  expect(useSwitching.getState().asked).toEqual({ s: 'wanted', other: 'x' })
  settleSwitch({ t: 'events', session: 's', events: [selected('wanted'), selected('of another tab')] })
  expect(useSwitching.getState().asked).toEqual({ other: 'x' })
})
