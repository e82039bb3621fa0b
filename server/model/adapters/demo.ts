import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { CallConfig } from '../../wire/messages.ts'
import {
  ModelError,
  type BuiltRequest,
  type ModelCard,
  type ModelFacts,
  type Route,
  type StreamEvent,
} from '../port.ts'

const MODEL = 'scripted'
const PAST_THE_END =
  'The scripted demo ends here: no model was involved. Add a provider in Settings > Models to continue with a real one.'

const Line = z.discriminatedUnion('k', [
  z.strictObject({ k: z.literal('script'), preset: z.string(), needs: z.array(z.string()) }),
  z.strictObject({
    k: z.literal('reply'),
    think: z.string().optional(),
    say: z.string().optional(),
    calls: z.array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.json()) })).optional(),
  }),
])
type Reply = Extract<z.infer<typeof Line>, { k: 'reply' }>
interface Script {
  needs: string[]
  replies: Reply[]
}

export interface DemoOptions {
  /** Folder of `<preset>.jsonl` scripts. */
  scripts: string
  /** Makes the demo's own workspace on first use and answers its path; tools of the script work there. */
  workspace: () => string
  /** Milliseconds between two words; 0 in tests. */
  paceMs?: number
}

/** One script: a head line naming the tools it needs, then one line per answer. Errors name file and line. */
export function parseScript(text: string, file: string): Script {
  const lines = text.split('\n').flatMap((line, index) => {
    if (!line.trim()) return []
    const parsed = Line.safeParse(jsonOf(line, `${file}:${index + 1}`))
    if (parsed.success) return [parsed.data]
    throw new Error(`${file}:${index + 1}: ${z.prettifyError(parsed.error)}`)
  })
  const head = lines[0]
  if (head?.k !== 'script') throw new Error(`${file}:1: a script begins with its head line`)
  return { needs: head.needs, replies: lines.filter((line) => line.k === 'reply') }
}

function jsonOf(line: string, where: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new Error(`${where}: not JSON: ${(error as Error).message}`, { cause: error })
  }
}

async function loadScripts(folder: string): Promise<Script[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()
  return Promise.all(files.map(async (name) => parseScript(await readFile(join(folder, name), 'utf8'), name)))
}

/** The answer is found by its ordinal in the session, never by content: any text advances the script. */
const ordinalOf = (request: BuiltRequest): number =>
  request.messages.filter(
    ({ role, source }) => role === 'assistant' && source.kind === 'model' && source.provider === 'demo',
  ).length

/** "Scripted demo, no model": hand-written answers, real tools, in the demo's own workspace. */
export function demoRoute(options: DemoOptions): Route {
  const { paceMs = 14 } = options
  let scripts: Promise<Script[]> | undefined
  const card: ModelCard = {
    id: MODEL,
    name: 'Scripted demo (no model)',
    inputs: ['text'],
    reasoning: false,
    efforts: [],
  }
  const describe = async (model: string): Promise<ModelFacts> => ({ ...card, id: model, listed: model === MODEL })
  return {
    id: 'demo',
    label: 'Scripted demo',
    wire: 'demo',
    neverDefault: true,
    retry: { mode: 'normal', retries: 0, baseMs: 500, capMs: 10_000, jitter: 0 },
    models: async () => [card],
    describe,
    async prepare(config: CallConfig) {
      if (config.reasoningEffort !== undefined)
        throw new ModelError({
          code: 'UNSUPPORTED_REASONING_EFFORT',
          message: 'The scripted demo has no reasoning effort.',
        })
      const facts = await describe(config.model)
      let used = false
      return {
        header: { config },
        facts,
        retry: this.retry,
        stream(request) {
          if (used) throw new Error('a prepared call streams once')
          used = true
          // A folder that could not be read is tried again by the next call.
          scripts ??= loadScripts(options.scripts).catch((error: unknown) => {
            scripts = undefined
            throw error
          })
          return play(scripts, request, { paceMs, workspace: options.workspace })
        },
      }
    },
  }
}

async function* play(
  scripts: Promise<Script[]>,
  request: BuiltRequest,
  { paceMs, workspace }: { paceMs: number; workspace: () => string },
): AsyncGenerator<StreamEvent> {
  const offered = new Set(request.tools.map(({ name }) => name))
  const script = (await scripts).find(({ needs }) => needs.every((name) => offered.has(name)))
  const reply = script?.replies[ordinalOf(request)] ?? { k: 'reply', say: PAST_THE_END }
  // By functions: a `$` in a path is no pattern.
  const fill = (text: string) => text.replaceAll('{{demo}}', () => workspace())
  const fillJson = (text: string) => text.replaceAll('{{demo}}', () => JSON.stringify(workspace()).slice(1, -1))
  let index = 0
  try {
    for (const [kind, text] of [
      ['reasoning', reply.think],
      ['text', reply.say],
    ] as const) {
      if (!text) continue
      const i = index++
      yield { t: 'open', i, kind }
      for (const word of fill(text).match(/\S+\s*|\s+/g) ?? []) {
        if (paceMs > 0) await wait(paceMs, undefined, { signal: request.signal })
        request.signal.throwIfAborted()
        yield { t: 'delta', i, s: word }
      }
      yield { t: 'close', i }
    }
    for (const [place, call] of (reply.calls ?? []).entries()) {
      const i = index++
      yield { t: 'open', i, kind: 'tool', callId: `demo-${ordinalOf(request)}-${place}`, name: call.name }
      yield { t: 'delta', i, s: fillJson(JSON.stringify(call.arguments)) }
      yield { t: 'close', i }
    }
    yield { t: 'end', finish: { kind: reply.calls?.length ? 'tool-calls' : 'stop' } }
  } catch (error) {
    if (!request.signal.aborted) throw error
    yield { t: 'end', finish: { kind: 'aborted', failure: { code: 'ABORTED', message: 'The call was stopped.' } } }
  }
}
