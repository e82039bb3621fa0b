import { expect, test } from 'vitest'
import type { Sessions } from '../session/sessions.ts'
import { Pace } from './limits.ts'
import { sessionRoom } from './session-commands.ts'

test('HS-11 a paced command has its number of times in each stretch; another is free', () => {
  let now = 0
  const pace = new Pace(() => now)
  for (let index = 0; index < 240; index++) pace.take('approval.answer')
  expect(() => pace.take('approval.answer')).toThrow('Wait a minute')
  for (let index = 0; index < 1_000; index++) pace.take('session.stop')
  now = 60_000
  expect(() => pace.take('approval.answer')).not.toThrow()
})

test('HS-11 live sessions are limited with a typed refusal', () => {
  let running = 1
  const room = sessionRoom({} as Sessions, () => running, { sessions: 2, queue: 1 })
  expect(() => room.forSession()).not.toThrow()
  running = 2
  expect(() => room.forSession()).toThrow(expect.objectContaining({ code: 'gateway/too-many-requests' }))
})
