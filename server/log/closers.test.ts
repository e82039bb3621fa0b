import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draft, type Draft } from '../wire/events.ts'
import { inbox, waiting } from '../projection/inbox.ts'
import { modelHistory, surface } from '../projection/surface.ts'
import { turnBoundary } from '../projection/turn-boundary.ts'
import { closers } from './closers.ts'
import { answer, call, header, message, toolCall, toolResult, turn, userMessage } from './samples.ts'
import { SessionLog } from './session-log.ts'

const at = { turn: 1, step: 1 }
const logOf = (...drafts: Draft[]) => {
  const log = SessionLog.memory(header(), { now: () => 5 })
  if (drafts.length > 0) log.append(...drafts)
  return log
}
let ids = 0
const close = (log: SessionLog, reason: 'interrupted' | 'forked' = 'interrupted') =>
  closers(log.events, { reason, newId: () => `id${++ids}`, inbox: log.state(inbox) })

test('SL-12 B30 an open tail gets one result per unanswered call, then step/end and turn/end', () => {
  const log = logOf(
    draft('turn/start', { turn: 1 }),
    draft('step/start', at),
    userMessage('u'),
    answer('a', [call('done'), call('running'), call('queued')]),
    toolCall('done'),
    toolResult('done'),
    toolCall('running'),
  )
  const drafts = close(log)
  expect(drafts.map((each) => [each.type, (each.data as { error?: { code: string } }).error?.code])).toEqual([
    ['tool/result', 'TOOL_OUTCOME_UNKNOWN'],
    ['tool/result', 'TOOL_NOT_STARTED'],
    ['step/end', undefined],
    ['turn/end', undefined],
  ])
  expect(drafts[0]!.sourceEventSeqs).toEqual([6])
  expect(drafts.at(-1)!.data).toEqual({ turn: 1, reason: { kind: 'interrupted' } })
  log.appendRepair(...drafts)
  expect(log.events.at(-1)!.time).toBe(log.events[6]!.time)
  expect(close(log)).toEqual([])
})

test('B32 a call that no answer of the model holds gets no result', () => {
  const log = logOf(draft('turn/start', { turn: 1 }), draft('step/start', at), toolCall('ghost'))
  expect(close(log).map((each) => each.type)).toEqual(['step/end', 'turn/end'])
})

test('a finished log and an empty one need nothing', () => {
  expect(close(logOf())).toEqual([])
  expect(close(logOf(...turn(1)))).toEqual([])
})

test('the end that a fork writes says forked', () => {
  const log = logOf(draft('turn/start', { turn: 3 }))
  expect(close(log, 'forked')).toEqual([draft('turn/end', { turn: 3, reason: { kind: 'forked' } })])
})

test('a claim whose removals were torn off neither loses nor repeats a prompt', () => {
  const insert = (id: string, start: number) =>
    draft('agent/inbox/spliced', { target: 'next-turn', start, inserted: [message(id, id)] })
  const log = logOf(
    insert('one', 0),
    insert('two', 1),
    insert('three', 2),
    draft('turn/start', { turn: 1 }),
    draft('step/start', at),
    userMessage('one'),
    userMessage('three'),
  )
  expect(waiting(log.state(inbox), 'next-turn').map((row) => row.message.id)).toEqual(['two'])
  log.appendRepair(...close(log))
  expect(log.state(inbox)['next-turn'].map((row) => row.message.id)).toEqual(['two'])
  expect(close(log)).toEqual([])
})

test('SL-12 B29 after closers every cut of a turn is whole: no open turn, every call answered once, and twice adds nothing', () => {
  const whole: Draft[] = [
    ...turn(1),
    draft('turn/start', { turn: 2 }),
    draft('step/start', { turn: 2, step: 1 }),
    userMessage('u', 'x', { turn: 2, step: 1 }),
    answer('a', [call('c1'), call('c2'), call('c3')], { turn: 2, step: 1 }),
    toolCall('c1', { turn: 2, step: 1 }),
    toolCall('c2', { turn: 2, step: 1 }),
    toolResult('c2', { turn: 2, step: 1 }),
    toolResult('c1', { turn: 2, step: 1 }),
    draft('step/end', { turn: 2, step: 1 }),
    draft('step/start', { turn: 2, step: 2 }),
  ]
  fc.assert(
    fc.property(fc.integer({ min: 0, max: whole.length }), (cut) => {
      const log = logOf(...whole.slice(0, cut))
      const drafts = close(log)
      if (drafts.length > 0) log.appendRepair(...drafts)
      expect(log.state(turnBoundary).openTurnStartSeq).toBeNull()
      expect(close(log)).toEqual([])
      expect(modelHistory(log.state(surface)).some((each) => each.id.startsWith('unanswered:'))).toBe(false)
    }),
  )
})
