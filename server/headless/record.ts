import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BootOptions } from '../boot.ts'
import { cassetteLeaks, formatCassette, parseCassette } from '../model/replay/cassette.ts'
import type { Recording } from '../plugins/llm-record.ts'
import type { Patch } from '../preset/patch.ts'
import { CoreError } from '../wire/errors.ts'
import type { Selection } from '../wire/messages.ts'
import { runHeadless, type HeadlessResult } from './headless.ts'
import { promptsOf, selectionOf } from './replay.ts'

export interface RecordOptions {
  /** Path of the cassette; made when it does not exist. */
  cassette: string
  mode: 'record' | 'missing'
  preset: string
  /** Absent: the model of the cassette's first call. */
  selection?: Selection
  /** Absent: the prompts of the cassette. */
  prompts?: readonly string[]
  workspace: string
  /** The person's own data folder: its keys are what a recording needs. */
  host: BootOptions
}

export interface RecordResult extends HeadlessResult {
  /** Recorded calls in the cassette now. */
  calls: number
  /** Lines that differ from the cassette as it was: removed and added. */
  removed: number
  added: number
  /** What must not be published: key-like strings and home paths, by line. */
  leaks: string[]
}

/** Runs the prompts against the live provider and writes every call down (RE-08). The file is for review, never for blind trust. */
export async function recordCassette(options: RecordOptions): Promise<RecordResult> {
  const file = resolve(options.cassette)
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const known = before ? parseCassette(before, file) : undefined
  const prompts = options.prompts ?? (known ? promptsOf(known) : [])
  const selection = options.selection ?? (known && selectionOf(known, file))
  if (prompts.length === 0 || !selection)
    throw new CoreError(
      'gateway/bad-request',
      `${options.cassette} does not exist yet: give --prompt and --model for the first recording.`,
    )
  const { workspace, mode } = options
  const patch = {
    insert: [{ id: 'llm-record', name: 'llm-record', config: { cassette: file, tokens: { cwd: workspace }, mode } }],
  } as Patch
  let after = before
  const result = await runHeadless({
    host: { ...options.host, patches: [...(options.host.patches ?? []), patch] },
    workspace,
    preset: options.preset,
    selection,
    prompts: prompts.map((prompt) => prompt.replaceAll('{{cwd}}', workspace)),
    inspect: (running) => void (after = formatCassette((running.service('recording') as Recording).cassette())),
  })
  writeFileSync(file, after)
  const was = new Set(before.split('\n'))
  const now = new Set(after.split('\n'))
  return {
    ...result,
    calls: parseCassette(after, file).calls.length,
    removed: [...was].filter((line) => !now.has(line)).length,
    added: [...now].filter((line) => !was.has(line)).length,
    leaks: cassetteLeaks(after),
  }
}
