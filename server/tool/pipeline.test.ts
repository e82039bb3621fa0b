import { expect, test } from 'vitest'
import type { Draft, LogEvent } from '../wire/events.ts'
import { BarrierError, type CallEnvironment, type CallEvent, type ToolGuard, type ToolHooks } from './execute.ts'
import { runCalls } from './pipeline.ts'
import { failure, text, type Tool, type ToolContext, type ToolOutcome } from './tool.ts'

function setting(tools: Tool[], over: { hooks?: Partial<ToolHooks>; guards?: ToolGuard[]; graceMs?: number } = {}) {
  const events: LogEvent[] = []
  const trace: string[] = []
  const abort = new AbortController()
  const outputs: string[] = []
  const log = {
    append(...drafts: Draft[]) {
      const added = drafts.map((draft, index) => ({ ...draft, seq: events.length + index, time: 0 }))
      events.push(...added)
      for (const event of added) trace.push(`${event.type} ${callIdOf(event)}`)
      return added
    },
    barrier: async () => void trace.push('barrier'),
  }
  const scope = {}
  const env: CallEnvironment = {
    agent: { id: 'a', scope, cwd: '/w', onClose: () => {} },
    turn: 1,
    step: 1,
    signal: abort.signal,
    tools: new Map(tools.map((tool) => [tool.spec.name, tool])),
    guards: over.guards ?? [],
    log,
    hooks: {
      preExecute: (_event, inner) => inner(),
      execute: (_event, inner) => inner(),
      postExecute: (_event, inner) => inner(),
      result: ({ callId }) => void trace.push(`bus ${callId}`),
      output: ({ text }) => void outputs.push(text),
      ...over.hooks,
    },
    graceMs: over.graceMs ?? 1000,
  }
  const results = () =>
    events.flatMap((event) => {
      if (event.type !== 'tool/result') return []
      const block = event.data.message.content[0]!
      if (block.type !== 'tool-result') return []
      const [first] = block.content
      return [
        {
          callId: block.toolCallId,
          text: first?.type === 'text' ? first.text : '',
          code: event.data.error?.code,
          isError: block.isError ?? false,
        },
      ]
    })
  return { env, events, trace, abort, results, outputs, log }
}

const callIdOf = (event: LogEvent): string => {
  if (event.type === 'tool/call') return event.data.callId
  if (event.type === 'tool/result' && event.data.message.source.kind === 'tool') return event.data.message.source.callId
  return ''
}

const make = (
  name: string,
  run: (args: unknown, context: ToolContext) => Promise<ToolOutcome> = async () => text(name),
  over: Partial<Tool> = {},
): Tool => ({ spec: { name, description: '', parameters: {} }, run, ...over })

const call = (callId: string, name: string, args = '{}') => ({ callId, name, arguments: args })

test('a call is logged, made durable, run, announced and answered, in this order', async () => {
  const order: string[] = []
  const hooks: Partial<ToolHooks> = {
    preExecute: async (_event, inner) => (order.push('pre'), inner()),
    execute: async (_event, inner) => (order.push('execute'), inner()),
    postExecute: async (_event, inner) => (order.push('post'), inner()),
  }
  const guards: ToolGuard[] = [() => (order.push('guard'), undefined)]
  const { env, trace, events } = setting([make('t', async () => (order.push('body'), text('out')))], { hooks, guards })
  await runCalls([call('c1', 't')], env)
  expect(order).toEqual(['pre', 'guard', 'execute', 'body', 'post'])
  expect(trace).toEqual(['tool/call c1', 'barrier', 'bus c1', 'tool/result c1'])
  expect(events[1]!.sourceEventSeqs).toEqual([0])
})

test('unknown tools, broken JSON and arguments that are no object are answers the model can read', async () => {
  const ran: unknown[] = []
  const { env, results } = setting([make('t', async (args) => (ran.push(args), text('ok')))])
  await runCalls(
    [call('a', 'nope'), call('b', 't', '{"x":'), call('c', 't', '[1]'), call('d', 't', 'null'), call('e', 't', '')],
    env,
  )
  expect(results().map(({ callId, code }) => [callId, code])).toEqual([
    ['a', 'TOOL_UNKNOWN'],
    ['b', 'TOOL_ARGUMENTS_INVALID'],
    ['c', 'TOOL_ARGUMENTS_INVALID'],
    ['d', 'TOOL_ARGUMENTS_INVALID'],
    ['e', undefined],
  ])
  expect(results()[0]!.text).toContain('Available tools: t')
  expect(results()[1]!.text).toContain('not valid JSON')
  expect(ran).toEqual([{}])
})

test('a tool or a hook that throws is an error result, and later calls run', async () => {
  const boom = async (): Promise<ToolOutcome> => {
    throw new Error('boom')
  }
  const hooks: Partial<ToolHooks> = {
    preExecute: (event, inner) => (event.name === 'gated' ? Promise.reject(new Error('gate fell')) : inner()),
  }
  const ran: string[] = []
  const tools = [
    make('bad', boom),
    make('gated', async () => (ran.push('gated'), text(''))),
    make('odd', async () => ({}) as ToolOutcome),
    make('good'),
  ]
  const { env, results } = setting(tools, { hooks })
  await runCalls([call('a', 'bad'), call('b', 'gated'), call('c', 'odd'), call('d', 'good')], env)
  expect(results().map(({ code }) => code)).toEqual(['TOOL_FAILED', 'TOOL_FAILED', 'TOOL_FAILED', undefined])
  expect(results()[0]!.text).toBe('bad failed: boom')
  expect(ran).toEqual([])
})

test('hooks and guards refuse, change arguments and change outcomes; a guard sees what a hook made of the call', async () => {
  const seen: unknown[] = []
  const hooks: Partial<ToolHooks> = {
    preExecute: async (event, inner) => {
      if (event.args['deny']) return { kind: 'refuse', outcome: failure('DENIED', 'no') }
      if (event.args['change']) return { kind: 'proceed', args: { changed: true } }
      return inner()
    },
    postExecute: async (_event, inner) => ({ ...(await inner()), content: [{ type: 'text', text: 'after' }] }),
  }
  const guards: ToolGuard[] = [
    ({ args }: CallEvent) => void seen.push(args),
    ({ args }: CallEvent) => (args['guard'] ? failure('GUARDED', 'guarded') : undefined),
  ]
  const { env, results } = setting([make('t', async (args) => (seen.push(args), text('x')))], { hooks, guards })
  await runCalls([call('a', 't', '{"deny":1}'), call('b', 't', '{"change":1}'), call('c', 't', '{"guard":1}')], env)
  expect(results().map(({ code, text }) => code ?? text)).toEqual(['DENIED', 'after', 'GUARDED'])
  expect(seen).toEqual([{ changed: true }, { changed: true }, { guard: 1 }])
})

test('parallel calls overlap up to the limit, exclusive ones stand alone, results keep the model’s order', async () => {
  let now = 0
  let most = 0
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const started: string[] = []
  const slow = async (_args: unknown, { callId }: ToolContext) => {
    started.push(callId)
    most = Math.max(most, ++now)
    const gate = Promise.withResolvers<void>()
    gates.set(callId, gate)
    await gate.promise
    now--
    return text(callId)
  }
  const { env, events, results } = setting([make('par', slow, { parallel: true }), make('excl', slow)])
  const done = runCalls(
    [call('a', 'par'), call('b', 'par'), call('c', 'par'), call('d', 'excl'), call('e', 'par')],
    env,
    { maxParallelToolCalls: 2 },
  )
  const open = async (id: string) => {
    await expect.poll(() => gates.has(id)).toBe(true)
    gates.get(id)!.resolve()
  }
  await expect.poll(() => started.length).toBe(2)
  await open('b')
  await expect.poll(() => started).toEqual(['a', 'b', 'c'])
  expect(results()).toEqual([])
  await open('c')
  await open('a')
  await expect.poll(() => started.length).toBe(4)
  expect(results().map(({ callId }) => callId)).toEqual(['a', 'b', 'c'])
  await open('d')
  await open('e')
  await done
  expect(most).toBe(2)
  expect(events.filter((event) => event.type === 'tool/call').map(callIdOf)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(results().map(({ callId }) => callId)).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('after an abort what runs is drained and committed, the rest is answered unrun', async () => {
  const { env, abort, events, results } = setting([
    make('run', async (_args, { signal }) => {
      abort.abort({ kind: 'user' })
      await new Promise<void>((resolve) =>
        signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve()),
      )
      return { ...text('partial'), isError: true }
    }),
  ])
  await runCalls([call('a', 'run'), call('b', 'run'), call('c', 'run')], env)
  expect(results()).toMatchObject([
    { callId: 'a', text: 'partial' },
    { callId: 'b', code: 'ABORTED_BEFORE_DISPATCH', isError: true },
    { callId: 'c', code: 'ABORTED_BEFORE_DISPATCH', isError: true },
  ])
  expect(events.map((event) => `${event.type} ${callIdOf(event)}`)).toEqual(
    ['a', 'b', 'c'].flatMap((id) => [`tool/call ${id}`, `tool/result ${id}`]),
  )
})

test('an abort ends a wait for a person at once; the body never runs', async () => {
  let ran = false
  const waiting = Promise.withResolvers<void>()
  const hooks: Partial<ToolHooks> = {
    preExecute: () => {
      waiting.resolve()
      return new Promise(() => {})
    },
  }
  const { env, abort, results } = setting([make('t', async () => ((ran = true), text('')))], { hooks })
  const done = runCalls([call('a', 't')], env)
  await waiting.promise
  abort.abort({ kind: 'user' })
  await done
  expect(results()).toMatchObject([{ code: 'ABORTED_BEFORE_DISPATCH' }])
  expect(ran).toBe(false)
})

test('a body that ignores the abort is left after its grace period with an unknown outcome', async () => {
  const { env, abort, results } = setting(
    [make('deaf', () => (queueMicrotask(() => abort.abort({ kind: 'user' })), new Promise(() => {})))],
    { graceMs: 20 },
  )
  await runCalls([call('a', 'deaf')], env)
  expect(results()).toMatchObject([{ code: 'TOOL_OUTCOME_UNKNOWN', isError: true }])
})

test('a time limit aborts the body and keeps what it returned', async () => {
  const untilAborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  const tools = [
    make('kind', async (_args, { signal }) => (await untilAborted(signal), text('so far')), { timeoutMs: 10 }),
    make('rude', () => new Promise(() => {}), { timeoutMs: 10 }),
    make(
      'angry',
      async (_args, { signal }) => {
        await untilAborted(signal)
        throw new Error('stopped')
      },
      { timeoutMs: 10 },
    ),
  ]
  const { env, events, results } = setting(tools, { graceMs: 20 })
  await runCalls([call('a', 'kind'), call('b', 'rude'), call('c', 'angry')], env)
  expect(results().map(({ code }) => code)).toEqual(['TOOL_TIMEOUT', 'TOOL_TIMEOUT', 'TOOL_TIMEOUT'])
  const [first] = events.filter((event) => event.type === 'tool/result')
  expect(JSON.stringify(first!.data)).toMatch(/so far.*ran longer than 0.01 s/)
})

test('live output reaches the screen until the result stands, and not after', async () => {
  let late: (text: string) => void = () => {}
  const { env, outputs, events } = setting([
    make('t', async (_args, { output, log }) => {
      output('a')
      log('todo/write', { todos: [] })
      output('b')
      late = output
      return text('')
    }),
  ])
  await runCalls([call('c', 't')], env)
  late('c')
  expect(outputs).toEqual(['a', 'b'])
  expect(events.map((event) => event.type)).toEqual(['tool/call', 'todo/write', 'tool/result'])
})

test('SL-05 a barrier that fails stops the step: no body runs, the error is the log’s', async () => {
  let ran = false
  const { env, log } = setting([make('t', async () => ((ran = true), text('')))])
  log.barrier = () => Promise.reject(new Error('disk full'))
  await expect(runCalls([call('a', 't'), call('b', 't')], env)).rejects.toBeInstanceOf(BarrierError)
  expect(ran).toBe(false)
})

test('meta that JSON cannot hold does not break the log; concludesTurn is told', async () => {
  const { env, events } = setting([
    make('t', async () => ({ ...text('x'), meta: { at: new Date(0), gone: undefined } as never, concludesTurn: true })),
  ])
  expect(await runCalls([call('a', 't')], env)).toEqual({ concludesTurn: true })
  expect(events[1]!.data).toMatchObject({ meta: { at: '1970-01-01T00:00:00.000Z' } })
})

test('a tool reaches the whole catalog through the same hooks and guards, and its calls end with it', async () => {
  const seen: string[] = []
  const inner = make('inner', async (args) => text(JSON.stringify(args)))
  const hidden = make('hidden')
  const outer = make('outer', async (_args, { dispatch }) => {
    const outcomes = [await dispatch!('inner', { x: 1 }), await dispatch!('hidden', {}), await dispatch!('nope', {})]
    return text(outcomes.map(({ content, error }) => error?.code ?? JSON.stringify(content)).join(' '))
  })
  const guards: ToolGuard[] = [
    ({ callId, name }) => (seen.push(`${callId} ${name}`), name === 'hidden' ? failure('NO', '') : undefined),
  ]
  const { env, results, events } = setting([outer], { guards })
  const catalog = new Map([outer, inner, hidden].map((tool) => [tool.spec.name, tool]))
  await runCalls([call('c', 'outer'), call('d', 'inner')], { ...env, catalog })
  expect(results().map(({ text, code }) => code ?? text)).toEqual([
    '[{"type":"text","text":"{\\"x\\":1}"}] NO TOOL_UNKNOWN',
    'TOOL_UNKNOWN',
  ])
  expect(seen).toEqual(['c outer', 'c/1 inner', 'c/2 hidden'])
  expect(events.filter((event) => event.type === 'tool/call')).toHaveLength(2)
})
