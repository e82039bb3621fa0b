import { CoreError } from '../wire/errors.ts'
import type { CommandResults } from '../wire/commands.ts'
import type { ToolSpec } from '../wire/messages.ts'
import type { DryRun, ForkReport, PresetUsage } from '../wire/presets.ts'
import { forkPoint } from '../log/jsonl/fork.ts'
import { agentPreset } from '../projection/agent-preset.ts'
import { carriedAsText } from '../projection/carried.ts'
import { fold } from '../projection/projection.ts'
import { request } from '../projection/request.ts'
import type { LiveSession } from './live.ts'
import type { OpenSessions } from './open-sessions.ts'
import type { Presets } from './ports.ts'

const noPresets = (preset: string) =>
  new CoreError('agent-preset/not-found', 'This server has no presets.', { agentPreset: preset, available: [] })

/** What sessions and presets have to do with each other: switches, moves, who uses what, what a fork would keep. */
export class SessionPresets {
  readonly #open: OpenSessions
  readonly #presets: Presets | undefined

  constructor(open: OpenSessions, presets: Presets | undefined) {
    this.#open = open
    this.#presets = presets
  }

  /** Switches a blank session; one whose preset is gone can be switched too. */
  select(id: string, preset: string): Promise<CommandResults['preset.select']> {
    const presets = this.#presets
    if (!presets) throw noPresets(preset)
    return this.#open.switching(id, async (session) => {
      const selected = await presets.select(session.agent, preset)
      await session.log.barrier()
      return { preset: selected }
    })
  }

  /** A session that is open only to be given another preset takes no prompt meanwhile: its agent would have nothing. */
  requireComposed(session: LiveSession): void {
    if (!session.uncomposed()) return
    const preset = session.state().preset.current!
    const reason = 'it was gone when this session was opened; choose another one for it'
    throw new CoreError('agent-preset/invalid', `The preset ${preset} cannot be used: ${reason}.`, {
      agentPreset: preset,
      reason,
    })
  }

  /** Moves the open blank sessions of older generations to the newest; on disk ones get it when they are opened. */
  async moveBlank(preset: string): Promise<CommandResults['preset.move-blank']> {
    const presets = this.#presets
    if (!presets) throw noPresets(preset)
    const newest = presets.generationOf(preset)
    const moved: string[] = []
    const left: { session: string; reason: string }[] = []
    for (const session of this.#open.all()) {
      const { id } = session
      const now = session.composition()
      if (now?.preset !== preset || now.generation === newest || !session.blank()) continue
      try {
        await this.select(id, preset)
        moved.push(id)
      } catch (error) {
        left.push({ session: id, reason: error instanceof Error ? error.message : String(error) })
      }
    }
    return { moved, left }
  }

  /** Who uses which generation. Rejects `agent-preset/not-found` for an id that is neither declared nor used. */
  async usage(preset: string): Promise<PresetUsage> {
    const generations = this.#presets?.generations(preset) ?? []
    if (generations.length === 0) await this.#presets?.resolve(preset)
    return {
      preset,
      generations: generations.map(({ generation, digest, mountedAt, retired, users, scopes }) => ({
        generation,
        digest,
        mountedAt,
        retired,
        users,
        sessions: scopes.flatMap((scope) => {
          const session = this.#open.all().find(({ agent }) => agent === scope)
          return session ? [lineOf(session)] : []
        }),
      })),
    }
  }

  /** What a fork into `preset` would keep and lose, without making it. */
  async forkCheck(source: string, { seq, preset }: { seq?: number | undefined; preset: string }): Promise<ForkReport> {
    const presets = this.#presets
    if (!presets) throw noPresets(preset)
    const after = await presets.describe(preset)
    const view = await this.#open.view(source)
    try {
      const { header, events } = view
      const inherited = events.slice(0, forkPoint(view, seq) + 1)
      const before = fold(agentPreset, header, inherited).current
      const now = before === null ? undefined : await presets.describe(before).catch(() => undefined)
      const sent = fold(request, header, inherited).header?.tools ?? now?.tools ?? []
      const names = after.tools.map(({ name }) => name)
      return {
        preset,
        asText: carriedAsText(inherited, header, names),
        tools: toolChanges(sent, after.tools),
        services: changes(now?.services ?? [], after.services),
        tokens: { ...(now && { before: tokensOf(now) }), after: tokensOf(after) },
      }
    } finally {
      view.release()
    }
  }
}

const lineOf = (session: LiveSession): PresetUsage['generations'][number]['sessions'][number] => ({
  session: session.id,
  title: session.state().title?.title ?? '',
  blank: session.blank(),
})

const tokensOf = ({ tokens }: DryRun): number => tokens.prompt + tokens.tools

const changes = (before: readonly string[], after: readonly string[]): { added: string[]; removed: string[] } => ({
  added: after.filter((name) => !before.includes(name)),
  removed: before.filter((name) => !after.includes(name)),
})

function toolChanges(before: readonly ToolSpec[], after: readonly ToolSpec[]): ForkReport['tools'] {
  const old = new Map(before.map((tool) => [tool.name, tool]))
  const changed = after.filter((tool) => {
    const known = old.get(tool.name)
    return known !== undefined && specOf(known) !== specOf(tool)
  })
  return {
    ...changes(
      [...old.keys()],
      after.map(({ name }) => name),
    ),
    changed: changed.map(({ name }) => name),
  }
}

const specOf = ({ description, parameters }: ToolSpec): string => JSON.stringify([description, parameters])
