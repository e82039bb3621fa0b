import { expect, test } from 'vitest'
import type { LogEvent } from '../wire/events.ts'
import type { Block, ImageBlock, Message } from '../wire/messages.ts'
import { carriedAsText, carryAsText } from './carried.ts'
import { inherited } from './inherited.ts'
import { fold } from './projection.ts'

const HEADER = { type: 'session', version: 1, id: 's', createdAt: 1, isSeeded: false, writer: 't' } as const
const IMAGE: ImageBlock = { type: 'image', sha256: 'aa', mediaType: 'image/png', bytes: 3 }
const REPLAY = { adapter: 'aisdk', v: 4, wire: 'chat' as const, blocks: [null, { x: 1 }] }
const text = (value: string): Block => ({ type: 'text', text: value })
const call = (id: string, name: string, raw = '{}'): Block => ({ type: 'tool-call', id, name, arguments: raw })
const model = (id: string, ...content: Block[]): Message => ({
  id,
  role: 'assistant',
  content,
  source: { kind: 'model', provider: 'p', model: 'm', replayState: REPLAY },
})
const user = (id: string): Message => ({ id, role: 'user', content: [text(id)], source: { kind: 'user' } })
const result = (
  callId: string,
  content: (ImageBlock | { type: 'text'; text: string })[],
  isError?: boolean,
): Message => ({
  id: `r-${callId}`,
  role: 'user',
  content: [{ type: 'tool-result', toolCallId: callId, content, ...(isError && { isError }) }],
  source: { kind: 'tool', callId },
})
const out = (value: string) => [{ type: 'text' as const, text: value }]
const placed = (...messages: Message[]) => messages.map((message, seq) => ({ seq, message }))
const without =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name)

test('a call becomes a line of its message, its result a message of a person; the replay data goes', () => {
  const [u, v] = [user('u'), user('v')]
  const history = placed(
    u,
    model('a', text('look'), call('c1', 'bash', '{"command":"ls"}')),
    result('c1', out('a.txt')),
    v,
  )
  const retold = carryAsText(history, without('bash'))
  expect(retold).toEqual([
    u,
    {
      id: 'a',
      role: 'assistant',
      content: [
        text('look'),
        text('[Earlier call of the tool "bash", which is not available any more, with {"command":"ls"}]'),
      ],
      source: { kind: 'model', provider: 'p', model: 'm' },
    },
    {
      id: 'r-c1',
      role: 'user',
      content: [text('[Result of the earlier call of the tool "bash". It returned:]'), text('a.txt')],
      source: { kind: 'tool', callId: 'c1' },
    },
    v,
  ])
  expect(retold[0]).toBe(u)
  expect(retold[3]).toBe(v)
})

test('what can be called stays a pair, its result next to it, and no text stands behind a call', () => {
  const mixed = model('a', call('c1', 'gone'), call('c2', 'bash'), text('so'), call('c3', 'gone'), call('c4', 'bash'))
  const answers = ['c1', 'c2', 'c3', 'c4'].map((id) => result(id, out(id)))
  const retold = carryAsText(placed(mixed, ...answers, user('u')), without('gone'))
  expect(retold.map(({ id }) => id)).toEqual(['a', 'r-c2', 'r-c4', 'r-c1', 'r-c3', 'u'])
  const line = text('[Earlier call of the tool "gone", which is not available any more, with {}]')
  expect(retold[0]!.content).toEqual([line, line, call('c2', 'bash'), text('so'), call('c4', 'bash')])
  expect(retold[1]).toBe(answers[1])
  expect(retold[2]).toBe(answers[3])
  expect(retold[4]!.content[1]).toEqual(text('c3'))
})

test('images of a result stay images; a failure and an empty result say so', () => {
  const history = placed(
    model('a', call('c1', 'look'), call('c2', 'look'), call('c3', 'look')),
    result('c1', [...out('seen'), IMAGE]),
    result('c2', out('no such file'), true),
    result('c3', []),
  )
  expect(
    carryAsText(history, without('look'))
      .slice(1)
      .map(({ content }) => content),
  ).toEqual([
    [text('[Result of the earlier call of the tool "look". It returned:]'), text('seen'), IMAGE],
    [text('[Result of the earlier call of the tool "look". It failed with:]'), text('no such file')],
    [text('[Result of the earlier call of the tool "look". It returned nothing.]')],
  ])
})

test('long arguments and results are cut in the middle, and say by how much', () => {
  const raw = `${'a'.repeat(2000)}${'b'.repeat(50)}${'c'.repeat(2000)}`
  const long = `${'x'.repeat(8000)}-${'y'.repeat(8000)}`
  const [told, answer] = carryAsText(placed(model('a', call('c1', 'w', raw)), result('c1', out(long))), without('w'))
  expect(told!.content).toEqual([
    text(
      `[Earlier call of the tool "w", which is not available any more, with ${'a'.repeat(2000)}\n[50 characters left out]\n${'c'.repeat(2000)}]`,
    ),
  ])
  expect(answer!.content[1]).toEqual(text(`${'x'.repeat(8000)}\n[1 characters left out]\n${'y'.repeat(8000)}`))
  const fits = 'z'.repeat(16_000)
  const [, whole] = carryAsText(placed(model('a', call('c1', 'w')), result('c1', out(fits))), without('w'))
  expect(whole!.content[1]).toEqual(text(fits))
})

test('the place in the log decides along with the name: a call of this session stays one', () => {
  const own = model('b', call('c2', 'gone'))
  const history = placed(model('a', call('c1', 'gone')), result('c1', out('1')), own, result('c2', out('2')))
  const retold = carryAsText(history, (name, seq) => name === 'gone' && seq < 2)
  expect(retold[2]).toBe(own)
  expect(retold[3]).toBe(history[3]!.message)
  expect(retold[0]!.content[0]!.type).toBe('text')
})

test('the report counts calls by tool, of what the surface still holds', () => {
  const event = (type: string, message: Message, seq: number, surfaceOp: unknown = 'append'): LogEvent =>
    ({ type, seq, time: 1, surfaceOp, data: { message } }) as unknown as LogEvent
  const events = [
    event('assistant/message', model('a', call('c1', 'zeta'), call('c2', 'bash')), 0),
    event('tool/result', result('c1', out('1')), 1),
    event('assistant/message', model('b', call('c3', 'alpha'), call('c4', 'zeta')), 2),
    event('assistant/message', model('c', call('c5', 'lost')), 3),
    event('user/message', user('summary'), 4, { op: 'replace', startSeq: 3, endSeq: 3 }),
  ]
  expect(carriedAsText(events, HEADER, ['bash'])).toEqual([
    { tool: 'alpha', calls: 1 },
    { tool: 'zeta', calls: 2 },
  ])
  expect(carriedAsText(events, HEADER, ['bash', 'zeta', 'alpha'])).toEqual([])
  expect(carriedAsText([], HEADER, [])).toEqual([])
})

test('the boundary is the last seed that was inherited', () => {
  const seed = (seq: number, isInherited?: boolean): LogEvent => ({
    type: 'session/end-seed',
    seq,
    time: 1,
    data: isInherited === undefined ? {} : { inherited: isInherited },
  })
  expect(fold(inherited, HEADER, [])).toBeNull()
  expect(fold(inherited, HEADER, [seed(3)])).toBeNull()
  expect(fold(inherited, HEADER, [seed(3, true), seed(5, false)])).toBe(3)
  expect(fold(inherited, HEADER, [seed(3, true), seed(7, true)])).toBe(7)
})
