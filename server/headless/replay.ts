import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { BootOptions } from '../boot.ts'
import type { Patch } from '../preset/patch.ts'
import type { CanonicalMessage } from '../model/replay/canonical.ts'
import { formatCassette, parseCassette, type Cassette, type RecordedCall } from '../model/replay/cassette.ts'
import { refreshed, type Player } from '../model/replay/player.ts'
import { TITLE_LANE } from '../session/titles.ts'
import type { CallConfig, Selection } from '../wire/messages.ts'
import { runHeadless, type HeadlessResult } from './headless.ts'

export type ReplayMode = 'replay' | 'refresh'

/** One cassette in the place of every live provider. `tokens` are the live values of its placeholders. */
export const replayPatches = (
  cassette: string,
  tokens: Record<string, string>,
  mode: ReplayMode = 'replay',
): Patch[] => [
  { insert: [{ id: 'llm-replay', name: 'llm-replay', config: { cassette, tokens, mode } }] },
  { id: 'providers', config: { live: false } },
]

export interface ReplayOptions {
  /** Path of the cassette; `refresh` writes its hashes there. */
  cassette: string
  mode: ReplayMode
  preset: string
  /** Folder that the recorded agent works in; absent: an empty temporary one, removed afterwards. */
  workspace?: string
  /** The data folder is a temporary one: a replay leaves nothing behind. */
  host: Omit<BootOptions, 'dataDir'>
}

export interface ReplayResult extends HeadlessResult {
  /** Requests that the cassette does not know, each with the first difference in words. */
  misses: string[]
  /** Recorded calls that nothing asked for. */
  unused: string[]
  /** Messages that `refresh` found changed. */
  changed: string[]
}

/** Plays a cassette through a host without a page: its user texts are the prompts, its first call names the model. */
export async function replayCassette(options: ReplayOptions): Promise<ReplayResult> {
  const { host, mode, preset } = options
  const file = resolve(options.cassette)
  const recorded = parseCassette(readFileSync(file, 'utf8'), file)
  const prompts = promptsOf(recorded)
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'core-web-replay-')))
  const workspace = options.workspace ?? (await realpath(await mkdtemp(join(tmpdir(), 'core-web-work-'))))
  try {
    let found: Pick<ReplayResult, 'misses' | 'unused' | 'changed'> | undefined
    const result = await runHeadless({
      host: {
        ...host,
        dataDir: folder,
        patches: [
          ...(host.patches ?? []),
          ...replayPatches(file, { cwd: workspace }, mode),
          { id: 'session-controller', config: { ...titlesOf(recorded) } },
        ],
      },
      workspace,
      preset,
      selection: selectionOf(recorded, file),
      prompts: prompts.map((prompt) => prompt.replaceAll('{{cwd}}', workspace)),
      inspect: (running) => void (found = verdict(running.service('replay') as Player, file, mode)),
    })
    return { ...result, ...found! }
  } finally {
    await rm(folder, { recursive: true, force: true })
    if (options.workspace === undefined) await rm(workspace, { recursive: true, force: true })
  }
}

function verdict(player: Player, file: string, mode: ReplayMode): Pick<ReplayResult, 'misses' | 'unused' | 'changed'> {
  const unused = player.unused()
  if (mode === 'replay') return { misses: player.misses, unused, changed: [] }
  const { cassette, changed } = refreshed(player)
  writeFileSync(file, formatCassette(cassette))
  return { misses: player.misses, unused, changed }
}

/** What a person said: the text that opens the new part of a call, behind the answer that ended the turn before it. */
export function promptsOf({ calls }: Cassette): string[] {
  const seen = new Map<string, number>()
  return calls.flatMap(({ head, messages }) => {
    if (head.lane !== 'main' || head.attempt > 1) return []
    const news = messages.slice(seen.get(head.lane) ?? 0).filter(({ role }) => role === 'user')
    seen.set(head.lane, messages.length)
    const prompt = news[0] && plainText(news[0])
    return prompt === undefined ? [] : [prompt]
  })
}

function plainText({ content }: CanonicalMessage): string | undefined {
  const blocks = content as { type: string; text?: string }[]
  if (blocks.some(({ type }) => type !== 'text')) return undefined
  return blocks.map(({ text = '' }) => text).join('')
}

/** The model of the first recorded call of a turn. */
export function selectionOf({ calls }: Cassette, file: string): Selection {
  const first = calls.find(({ head }) => head.lane !== TITLE_LANE)
  if (!first) throw new Error(`${file} holds no call.`)
  return selectionIn(first)
}

/** The setting under which a recorded title is asked for again; a recording without one is played without. */
function titlesOf({ calls }: Cassette): { titles?: Selection } {
  const call = calls.find(({ head }) => head.lane === TITLE_LANE)
  return call ? { titles: selectionIn(call) } : {}
}

function selectionIn({ head }: RecordedCall): Selection {
  const { provider, model, reasoningEffort } = head.config as unknown as CallConfig
  return { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) }
}
