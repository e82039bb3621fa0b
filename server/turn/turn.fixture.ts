import type { Header, LogEvent } from '../wire/events.ts'
import type { CallConfig, Message } from '../wire/messages.ts'
import { textOf } from '../wire/messages.ts'
import { SessionLog } from '../log/session-log.ts'
import { fillHeader } from '../model/header.ts'
import type { BuiltRequest, Failure, ModelFacts, PreparedCall, RetryPolicy, StreamEvent } from '../model/port.ts'
import { SystemPrompt, type PromptConfig } from '../prompt/prompt.ts'
import { Scopes } from '../scope/scope.ts'
import { Tools } from '../tool/registry.ts'
import { text, type Tool, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { Hooks } from './hooks.ts'
import type { TurnWorld } from './world.ts'

/** What the scripted model says in one attempt. */
export type Say =
  | { text: string; finish?: { kind: 'stop' | 'max-tokens' | 'content-filter' } }
  | { calls: { id: string; name: string; arguments: string }[]; text?: string }
  | { error: Failure }
  | { stream: (request: BuiltRequest) => AsyncIterable<StreamEvent> }

export const header = (over: Partial<Header> = {}): Header => ({
  type: 'session',
  version: 1,
  id: 's1',
  createdAt: 1000,
  cwd: '/tmp',
  isSeeded: false,
  writer: 'test',
  ...over,
})

async function* say(script: Say, request: BuiltRequest): AsyncIterable<StreamEvent> {
  if ('stream' in script) {
    yield* script.stream(request)
    return
  }
  if ('error' in script) {
    yield { t: 'end', finish: { kind: 'error', failure: script.error } }
    return
  }
  let index = 0
  if (script.text !== undefined) {
    yield { t: 'open', i: index, kind: 'text' }
    yield { t: 'delta', i: index, s: script.text }
    yield { t: 'close', i: index++ }
  }
  if (!('calls' in script)) {
    yield { t: 'end', finish: script.finish ?? { kind: 'stop' } }
    return
  }
  for (const call of script.calls) {
    yield { t: 'open', i: index, kind: 'tool', callId: call.id, name: call.name }
    yield { t: 'delta', i: index, s: call.arguments }
    yield { t: 'close', i: index++ }
  }
  yield { t: 'end', finish: { kind: 'tool-calls' } }
}

export const FACTS: ModelFacts = {
  id: 'm',
  name: 'M',
  inputs: ['text'],
  reasoning: false,
  efforts: [],
  listed: true,
  contextWindow: 1000,
}

/** A route that plays a script, one entry per attempt; the last entry repeats. */
export class ScriptedModel {
  requests: BuiltRequest[] = []
  configs: CallConfig[] = []
  script: Say[]
  facts: ModelFacts = FACTS
  retry: RetryPolicy = { mode: 'normal', retries: 2, baseMs: 1, capMs: 5, jitter: 0 }

  constructor(...script: Say[]) {
    this.script = script
  }

  prepare = async (config: CallConfig): Promise<PreparedCall> => {
    this.configs.push(config)
    return {
      header: fillHeader(config, this.facts),
      facts: this.facts,
      retry: this.retry,
      stream: (request) => {
        this.requests.push(request)
        const entry = this.script[Math.min(this.requests.length, this.script.length) - 1]!
        return say(entry, request)
      },
    }
  }
}

/** A host around one scripted model, all in memory. */
export function world(
  model: ScriptedModel,
  over: Partial<TurnWorld> & { promptConfig?: PromptConfig; scopes?: Scopes } = {},
): TurnWorld & { scopes: Scopes } {
  const { promptConfig, scopes = new Scopes(), ...rest } = over
  const hooks = new Hooks(scopes, (error) => {
    throw error
  })
  let next = 0
  return {
    scopes,
    hooks,
    prompt: new SystemPrompt(promptConfig ?? { personaPrefix: 'You help.', includeHarnessIdentity: false }, {
      scopes,
      waterfall: (scope, event, inner) => hooks.waterfall('system-prompt/assemble', scope, event, inner),
    }),
    tools: new Tools(scopes),
    prepare: model.prepare,
    id: () => `id${++next}`,
    graceMs: 200,
    ...rest,
  }
}

export const memoryLog = (events?: LogEvent[], over: Partial<Header> = {}): SessionLog =>
  SessionLog.memory(header(over), { ...(events && { events: [...events] }), now: () => 2000 })

/** A tool with an empty schema. */
export const tool = (
  name: string,
  run: (args: unknown, context: ToolContext) => Promise<ToolOutcome> = async () => text(`${name} ran`),
  over: Partial<Tool> = {},
): Tool => ({
  spec: { name, description: `${name}.`, parameters: { type: 'object', properties: {} } },
  run,
  ...over,
})

export const types = (log: { events: readonly LogEvent[] }): string[] => log.events.map((event) => event.type)

export function ofType<T extends LogEvent['type']>(
  log: { events: readonly LogEvent[] },
  type: T,
): Extract<LogEvent, { type: T }>[] {
  return log.events.filter((event) => event.type === type) as Extract<LogEvent, { type: T }>[]
}

export function last<T>(items: readonly T[]): T {
  const item = items.at(-1)
  if (item === undefined) throw new Error('the list is empty')
  return item
}

export const texts = (messages: readonly Message[]): string[] => messages.map(textOf)
