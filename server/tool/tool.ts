import { z } from 'zod'
import type { Json, JsonObject } from '../wire/json.ts'
import type { ImageBlock, TextBlock, ToolSpec } from '../wire/messages.ts'
import type { Policy } from '../wire/safety.ts'
import type { ToolError, EventData } from '../wire/events.ts'
import type { ScopeKey } from '../scope/scope.ts'

/** What a tool may know of the agent that calls it. `onClose` effects run, awaited, when the agent is disposed. */
export interface AgentFacts {
  id: string
  scope: ScopeKey
  cwd: string
  onClose(effect: () => void | Promise<void>): void
}

export interface ToolContext {
  agent: AgentFacts
  callId: string
  turn: number
  step: number
  cwd: string
  signal: AbortSignal
  /** Absent: nobody judges calls here. */
  admission?: Admission
  /** Live output for the screen: transient, superseded by the result. */
  output(text: string): void
  /** Logs a durable fact of this call before its result. */
  log<T extends 'todo/write'>(type: T, data: EventData[T]): void
  /**
   * Calls another tool of this agent's whole catalog through the same hooks, guards and limits; its outcome is this call's to
   * report. Refused once this call has ended. Absent where no pipeline stands behind the context.
   */
  dispatch?(name: string, args: JsonObject): Promise<ToolOutcome>
}

export interface ToolOutcome {
  content: (TextBlock | ImageBlock)[]
  isError?: boolean
  error?: ToolError
  /** For the screen only (diff hunks, exit code, duration); never sent to the model. */
  meta?: Json
  /** The turn ends after this step without another model call. */
  concludesTurn?: boolean
}

export interface CallClass {
  class: 'read' | 'edit' | 'command'
  /** As the call names them, relative ones against its working folder. */
  paths: string[]
  /** What rules are held against beside the paths: the command. */
  command?: string
  /** It asks to leave what the session is confined to, for this one call, and why. */
  escalate?: string
}

/** How the host let a call pass: under which policy, and where its paths lie. */
export interface Admission {
  policy: Policy
  /** [as the call names it, real path that was judged]. */
  paths: readonly (readonly [string, string])[]
  /** Outside of what confines the session, for this call alone, because a person or a rule allowed it. */
  outside: boolean
}

export interface Tool {
  spec: ToolSpec
  /** Calls of a parallel tool may overlap; any other call is a barrier. */
  parallel?: boolean
  /** Milliseconds; the pipeline ends the call with an error result afterwards. Absent: the tool owns its limit. */
  timeoutMs?: number
  /** For the permission gate: what the call would touch. */
  classify?(args: JsonObject): CallClass
  /** `args` is the parsed JSON of the call; an unexpected shape is an error outcome, not a throw. */
  run(args: Json, context: ToolContext): Promise<ToolOutcome>
}

export const text = (value: string): ToolOutcome => ({ content: [{ type: 'text', text: value }] })

/** A failure that the model reads; `code` is stable, `message` says what to do instead. */
export const failure = (code: string, message: string, meta?: Json): ToolOutcome => ({
  content: [{ type: 'text', text: message }],
  isError: true,
  error: { code, reason: message },
  ...(meta !== undefined && { meta }),
})

/** JSON Schema as the model sees it: no dialect line, object types closed. */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' }) as JsonObject
  return rest
}

/** One zod schema gives the model's parameters, the parser and the type of `run`'s arguments. */
export function defineTool<S extends z.ZodType>(
  tool: Omit<Tool, 'spec' | 'run' | 'classify'> & {
    name: string
    description: string
    schema: S
    classify?(args: z.output<S>): CallClass
    run(args: z.output<S>, context: ToolContext): Promise<ToolOutcome>
  },
): Tool {
  const { name, description, schema, classify, run, ...rest } = tool
  return {
    ...rest,
    spec: { name, description, parameters: jsonSchemaOf(schema) },
    ...(classify && {
      classify(args: JsonObject) {
        const parsed = schema.safeParse(args)
        return parsed.success ? classify(parsed.data) : { class: 'read' as const, paths: [] }
      },
    }),
    async run(args, context) {
      const parsed = schema.safeParse(args)
      if (parsed.success) return run(parsed.data, context)
      const issues = parsed.error.issues.map((issue) => `- ${issue.path.join('.') || name}: ${issue.message}`)
      return failure('TOOL_ARGUMENTS_INVALID', `The arguments of ${name} are not valid:\n${issues.join('\n')}`)
    },
  }
}
