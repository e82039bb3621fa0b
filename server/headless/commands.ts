import { stat, realpath, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Flags } from '../flags.ts'
import { environment } from '../handover.mjs'
import { SessionStore } from '../log/store.ts'
import { Redactor } from '../redact/redact.ts'
import { hostSecrets } from '../secrets.ts'
import { CoreError } from '../wire/errors.ts'
import type { Selection } from '../wire/messages.ts'
import { VERSION } from '../version.ts'
import { FORMATS, exportSession as exported, type Format } from './export.ts'
import { NotStarted, runHeadless, type HeadlessResult } from './headless.ts'
import { recordCassette } from './record.ts'
import { replayCassette, type ReplayResult } from './replay.ts'

/** The outside world of a command; a parameter, so that tests can look. */
export interface CommandWorld {
  rootDir: string
  env: NodeJS.ProcessEnv
  cwd: string
  out: (text: string | Buffer) => void
  err: (text: string) => void
  signal?: AbortSignal
}

/** Exit codes: 0 done, 1 the run failed, 2 the command line is wrong. */
export type ExitCode = 0 | 1 | 2

export const thisProcess = (): CommandWorld => ({
  rootDir: join(import.meta.dirname, '../..'),
  env: environment(),
  cwd: process.cwd(),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(`${text}\n`),
  signal: interrupted(),
})

/** The first Ctrl-C stops the turn and lets the log end in order; a second one ends the process at once. */
function interrupted(): AbortSignal {
  const abort = new AbortController()
  process.once('SIGINT', () => {
    abort.abort()
    process.once('SIGINT', () => process.exit(130))
  })
  return abort.signal
}

const USAGE = {
  run: 'core-web run [--preset ID] [--model PROVIDER/MODEL] [--effort E] [--cwd DIR] [--json] PROMPT',
  replay:
    'core-web replay CASSETTE [--mode replay|refresh|record|missing] [--preset ID] [--cwd DIR] [--model PROVIDER/MODEL] [--prompt TEXT]...',
  export: 'core-web export SESSION [--format raw|messages] [--per-session] [--out FILE]',
}

class Usage extends Error {}

/** Sends one prompt and prints the last answer (`--json`: every event as a line). Fails unless the turn completed. */
export async function run(args: readonly string[], flags: Flags, world = thisProcess()): Promise<ExitCode> {
  return guarded(world, USAGE.run, async () => {
    const { values, positionals } = parse(args, {
      preset: { type: 'string' },
      model: { type: 'string' },
      effort: { type: 'string' },
      cwd: { type: 'string' },
      json: { type: 'boolean' },
    })
    const prompt = positionals.join(' ')
    if (!prompt) throw new Usage('There is no prompt.')
    const selection = selectionFrom(values.model, values.effort)
    const result = await runHeadless({
      host: hostOf(flags, world),
      workspace: await folder(world, values.cwd),
      prompts: [prompt],
      ...(values.preset !== undefined && { preset: values.preset }),
      ...(selection && { selection }),
      ...(values.json && { onEvents: (events) => events.forEach((event) => world.out(`${JSON.stringify(event)}\n`)) }),
      ...(world.signal && { signal: world.signal }),
    })
    if (!values.json && result.text) world.out(`${result.text}\n`)
    world.err(`session ${result.session}`)
    return ended(result, world)
  })
}

/** Plays a cassette again, without a key, and names what differs. Fails on a miss, on an unused call, on a failed turn. */
export async function replay(args: readonly string[], flags: Flags, world = thisProcess()): Promise<ExitCode> {
  return guarded(world, USAGE.replay, async () => {
    const { values, positionals } = parse(args, {
      mode: { type: 'string', default: world.env['CORE_WEB_REPLAY'] ?? 'replay' },
      preset: { type: 'string', default: 'minimal' },
      cwd: { type: 'string' },
      model: { type: 'string' },
      effort: { type: 'string' },
      prompt: { type: 'string', multiple: true },
    })
    const { mode } = values
    const [cassette, ...more] = positionals
    if (!cassette || more.length > 0) throw new Usage('Name one cassette.')
    if (mode === 'record' || mode === 'missing') return record({ ...values, cassette, mode }, flags, world)
    if (mode !== 'replay' && mode !== 'refresh') throw new Usage(`There is no mode ${mode}.`)
    const result = await replayCassette({
      cassette: resolve(world.cwd, cassette),
      mode,
      preset: values.preset,
      host: hostOf(flags, world),
      ...(values.cwd !== undefined && { workspace: await folder(world, values.cwd) }),
    })
    for (const line of result.changed) world.out(`changed: ${line}\n`)
    for (const line of result.misses) world.err(line)
    if (result.unused.length > 0) world.err(`recorded calls that nothing asked for: ${result.unused.join(', ')}`)
    return verdict(result, cassette, world)
  })
}

interface RecordArguments {
  cassette: string
  mode: 'record' | 'missing'
  preset: string
  cwd?: string
  model?: string
  effort?: string
  prompt?: string[]
}

async function record(args: RecordArguments, flags: Flags, world: CommandWorld): Promise<ExitCode> {
  // A recording that nobody looked at must not replace a reviewed one.
  if (world.env['CI']) throw new Usage(`Cassettes are read-only in CI; there is no mode ${args.mode} here.`)
  const selection = selectionFrom(args.model, args.effort)
  const result = await recordCassette({
    cassette: resolve(world.cwd, args.cassette),
    mode: args.mode,
    preset: args.preset,
    workspace: await folder(world, args.cwd),
    host: hostOf(flags, world),
    ...(selection && { selection }),
    ...(args.prompt && { prompts: args.prompt }),
  })
  world.out(
    `${args.cassette}: ${result.calls} calls; ${result.removed} lines gone, ${result.added} new. Review the diff.\n`,
  )
  for (const leak of result.leaks) world.err(`not fit to publish: ${leak}`)
  const turns = ended(result, world)
  return result.leaks.length > 0 ? 1 : turns
}

/** Writes a stored session to a file or to the output. Works beside a running server: it only reads. */
export async function exportSession(args: readonly string[], flags: Flags, world = thisProcess()): Promise<ExitCode> {
  return guarded(world, USAGE.export, async () => {
    const { values, positionals } = parse(args, {
      format: { type: 'string', default: 'raw' },
      'per-session': { type: 'boolean' },
      out: { type: 'string' },
    })
    const [session, ...more] = positionals
    if (!session || more.length > 0) throw new Usage('Name one session.')
    const format = FORMATS.find((name): name is Format => name === values.format)
    if (!format) throw new Usage(`There is no format ${values.format}.`)
    const store = new SessionStore(flags.data)
    try {
      const content = await exported(store, session, {
        format,
        writer: `core-web@${VERSION}`,
        redactor: new Redactor(hostSecrets(flags.data, world.env)),
        ...(values['per-session'] && { perSession: true }),
      })
      if (values.out === undefined) world.out(content)
      else await writeFile(resolve(world.cwd, values.out), content, { mode: 0o600 })
    } finally {
      await store.close()
    }
    return 0
  })
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>['options']

function parse<O extends NonNullable<Options>>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new Usage((error as Error).message)
  }
}

/** Expected failures end with a sentence and a code, everything else with its stack. */
async function guarded(world: CommandWorld, usage: string, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Usage) {
      world.err(`${error.message}\nUsage: ${usage}`)
      return 2
    }
    if (!(error instanceof CoreError) && !(error instanceof NotStarted)) throw error
    world.err(error.message)
    return 1
  }
}

const hostOf = (flags: Flags, { rootDir, env, err }: CommandWorld) => ({
  rootDir,
  dataDir: flags.data,
  flags,
  env,
  log: err,
})

function selectionFrom(model: string | undefined, effort: string | undefined): Selection | undefined {
  if (model === undefined && effort !== undefined) throw new Usage('--effort needs --model.')
  if (model === undefined) return undefined
  const cut = model.indexOf('/')
  if (cut <= 0 || cut === model.length - 1) throw new Usage(`--model ${model} is not PROVIDER/MODEL.`)
  const selection = { provider: model.slice(0, cut), model: model.slice(cut + 1) }
  return { ...selection, ...(effort !== undefined && { reasoningEffort: effort }) }
}

async function folder({ cwd }: CommandWorld, given = '.'): Promise<string> {
  const path = resolve(cwd, given)
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) throw new Usage(`${path} is not a folder.`)
  return realpath(path)
}

function ended({ ends }: HeadlessResult, world: CommandWorld): ExitCode {
  const failed = ends.find(({ kind }) => kind !== 'completed')
  if (!failed && ends.length > 0) return 0
  world.err(failed ? `The turn ended: ${JSON.stringify(failed)}` : 'The turn was stopped before it began.')
  return 1
}

function verdict(result: ReplayResult, cassette: string, world: CommandWorld): ExitCode {
  const turns = ended(result, world)
  if (turns !== 0 || result.misses.length > 0 || result.unused.length > 0) return 1
  const calls = result.events.filter(({ type }) => type === 'assistant/message').length
  world.out(`${cassette}: ${calls} calls, all as recorded\n`)
  return 0
}
