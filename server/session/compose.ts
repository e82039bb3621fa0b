import type { Agent } from '../agent/agent.ts'
import type { CreateAgent } from '../agent/registry.ts'
import type { Hooks } from '../turn/hooks.ts'
import { installBudget, type BudgetOptions } from './budget.ts'
import type { Presets } from './ports.ts'
import { installModelSelection, type ModelSelection } from './selection.ts'

export interface ComposeOptions {
  hooks: Hooks
  selection: ModelSelection
  presets: Presets | undefined
  preset: string | undefined
  modelNotice: boolean | undefined
  budget: BudgetOptions
}

/** What the session entry adds to a bare agent, in this order: the model selection, then the preset. */
export function composeAgent({
  hooks,
  selection,
  presets,
  preset,
  modelNotice,
  budget,
}: ComposeOptions): Pick<CreateAgent, 'setup' | 'presetDigest' | 'composition'> {
  let scope: Agent | undefined
  return {
    async setup(agent) {
      scope = agent
      agent.onClose(
        installModelSelection(hooks, agent, selection, { ...(modelNotice !== undefined && { modelNotice }) }),
      )
      agent.onClose(installBudget(hooks, agent, budget))
      if (!presets) return
      // Also where none is mounted yet: a switch may come before the first turn.
      agent.onClose(() => presets.leave(agent))
      if (preset !== undefined) await presets.mount(agent, preset)
    },
    presetDigest: () => scope && presets?.declarationDigest(scope),
    composition: () => scope && presets?.composition(scope),
  }
}
