import './context.ts'
import { z } from 'zod'
import { live, plugin } from '../preset/kernel.ts'
import { PresetRegistry } from '../preset/registry.ts'
import { AgentPresets } from '../preset/service.ts'
import { CoreError } from '../wire/errors.ts'
import type { Volatile } from '@deepseek-ai/cosmokit'
import type { SystemPrompt } from '../prompt/prompt.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { Tools } from '../tool/registry.ts'
import type { HostLoader } from '../preset/loader.ts'
import type { NumberBook } from '../preset/numbers.ts'
import type { DryRun } from '../wire/presets.ts'
import { jsonTokens, textTokens } from '../wire/tokens.ts'
import type { StateStore } from '../workspace/state.ts'

const config = z.strictObject({
  default: z.string(),
  selectedDefault: z.string().optional(),
  diagnosisDeadlineMs: z.int().positive().default(5000),
  mountDeadlineMs: z.int().positive().default(10_000),
})

type Settings = Omit<z.output<typeof config>, 'selectedDefault'> & { selectedDefault: Volatile<string | undefined> }

/** What an agent with this scope would be given, without an agent; variables stand as written. */
async function dryAssembly(prompt: SystemPrompt, tools: Tools, scope: ScopeKey): Promise<Omit<DryRun, 'services'>> {
  const specs = tools.assemble(scope).map((tool) => tool.spec)
  const agent = { id: 'preview', scope, cwd: '/' }
  const { signal } = new AbortController()
  const assembly = await prompt.assemble({ agent, scope, signal, tools: specs })
  const owners = tools.owners(scope)
  const texts = assembly.sections.map(({ text }) => text).filter((text) => text.trim() !== '')
  return {
    sections: [...assembly.provenance.sections],
    contexts: [...assembly.provenance.contexts],
    tools: assembly.tools.map((tool) => ({
      ...tool,
      ...(owners[tool.name] !== undefined && { owner: owners[tool.name] }),
    })),
    tokens: {
      prompt: Math.ceil(textTokens(texts.join('\n\n'))),
      tools: Math.ceil(jsonTokens(JSON.stringify(assembly.tools))),
    },
  }
}

const NUMBERS = 'preset-generations'
type Numbered = { [preset: string]: { generation: number; digest: string } }

const bookIn = (state: StateStore): NumberBook => ({
  last: (preset) => (state.get(NUMBERS) as Numbered | undefined)?.[preset],
  keep: (preset, last) => void state.update<Numbered>(NUMBERS, (all) => ({ ...all, [preset]: last })),
})

export default plugin({
  name: 'agent-presets',
  inject: ['loader', 'hostRows', 'stateStore', 'scopes', 'hooks', 'systemPrompt', 'tools'],
  config: live(config, 'selectedDefault'),
  retired: { defaultPreset: 'default' },
  apply(ctx, settings: Settings) {
    const { logger, hostRows, stateStore, scopes, hooks, systemPrompt, tools } = ctx
    const registry = new PresetRegistry({
      ctx,
      scopes,
      defaultId: settings.default,
      selectedDefault: () => settings.selectedDefault.get(),
      describe: (scope) => dryAssembly(systemPrompt, tools, scope),
      numbers: bookIn(stateStore),
      ownFolder: hostRows.userPresets,
      saveDefault: async (id) => {
        const editor = ctx.get('configEditor')
        const row = ctx.fiber.entry?.options.id
        if (!editor || row === undefined)
          throw new CoreError('settings/not-saved', 'This host has no settings file to write the default to.')
        await editor.edit(row, ({ selectedDefault: _before, ...others }) => ({
          ...others,
          ...(id !== undefined && { selectedDefault: id }),
        }))
      },
      warn: (message) => logger.warn(message),
      diagnosisDeadlineMs: settings.diagnosisDeadlineMs,
      mountDeadlineMs: settings.mountDeadlineMs,
    })
    // An agent's end is its exit from the preset (F-02).
    ctx.effect(() => hooks.on(null, 'agent/disposed', ({ agent }) => registry.leave(agent.scope)))
    ctx.effect(() =>
      registry.onChange((change) => {
        if (change.kind === 'bound') tools.changed(change.scope)
        if (change.kind === 'selected') ctx.emit('agent-preset/selected', change.sessionId, change.id)
      }),
    )
    ctx.on('loader/volatile-update', () => registry.noted())
    ctx.effect(() => (ctx.loader as HostLoader).onDocument(() => registry.noted()))
    // It provides itself as `agentPresets`.
    void new AgentPresets(ctx, registry)
  },
})

declare module '@deepseek-ai/cordis' {
  interface Events {
    /** Once per committed switch of a blank session's preset (H-11). */
    'agent-preset/selected'(sessionId: string, presetId: string): void
  }
}
