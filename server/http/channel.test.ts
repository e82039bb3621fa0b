import { expect, test, vi } from 'vitest'
import type { DeltaFrame, ToolOutputFrame } from '../wire/protocol.ts'
import type { LogEvent } from '../wire/events.ts'
import { Channel } from './channel.ts'

const at = { turn: 1, step: 1, attempt: 1, block: 0, kind: 'text' as const }

function setup() {
  vi.useFakeTimers()
  const frames: (DeltaFrame | ToolOutputFrame)[] = []
  const channel = new Channel(
    's',
    (frame) => frames.push(JSON.parse(frame)),
    () => Date.now(),
  )
  return { frames, channel }
}

test('the first delta leaves at once, the rest at most once per 16 ms, and the text is whole', () => {
  const { frames, channel } = setup()
  channel.delta({ ...at, text: 'a' })
  expect(frames).toHaveLength(1)
  for (let index = 0; index < 1_000; index++) {
    channel.delta({ ...at, text: 'x' })
    if (index % 10 === 0) vi.advanceTimersByTime(1)
  }
  vi.advanceTimersByTime(20)
  expect(frames.length).toBeLessThanOrEqual(8)
  expect(frames.map(({ text }) => text).join('')).toBe('a' + 'x'.repeat(1_000))
  let offset = 0
  for (const frame of frames) {
    expect(frame.offset).toBe(offset)
    offset += frame.text.length
  }
  vi.useRealTimers()
})

test('a tab that comes in the middle gets the whole block from its start', () => {
  const { channel } = setup()
  channel.delta({ ...at, text: 'one ' })
  channel.delta({ ...at, text: 'two' })
  const [frame] = channel.current().map((text) => JSON.parse(text) as DeltaFrame)
  expect(frame).toMatchObject({ offset: 0, text: 'one two' })
  vi.useRealTimers()
})

test('a higher attempt and the logged message each end the transient text', () => {
  const { channel } = setup()
  channel.delta({ ...at, text: 'lost' })
  channel.delta({ ...at, attempt: 2, text: 'kept' })
  expect(channel.current().map((text) => (JSON.parse(text) as DeltaFrame).text)).toEqual(['kept'])
  channel.settle([{ type: 'assistant/message' } as LogEvent])
  expect(channel.current()).toEqual([])
  vi.useRealTimers()
})

test('output of a running tool keeps its last 64 KB and counts all of it', () => {
  const { channel } = setup()
  channel.output({ turn: 1, step: 1, callId: 'c', text: 'a'.repeat(100_000) })
  channel.output({ turn: 1, step: 1, callId: 'c', text: 'end' })
  const [frame] = channel.current().map((text) => JSON.parse(text) as ToolOutputFrame)
  expect(frame!.text.endsWith('end')).toBe(true)
  expect(frame!.text).toHaveLength(64 * 1024)
  expect(frame!.offset + frame!.text.length).toBe(100_003)
  vi.useRealTimers()
})
