import type { PermissionPreset, PinnedPolicy, PolicyChoice, SandboxVerdict } from '../wire/safety.ts'

const shipped = (id: string, name: string, description: string, choice: PolicyChoice): PermissionPreset => ({
  id,
  name,
  description,
  choice,
  own: false,
})

/** What everybody starts with, the most careful first. */
export const SHIPPED: readonly PermissionPreset[] = [
  shipped('read-only', 'Read only', 'Commands and tools read the workspace; only their own /tmp can be written.', {
    sandbox: 'read-only',
    network: true,
    onAsk: 'prompt',
    edits: 'auto',
    commands: 'auto',
  }),
  shipped('ask', 'Ask first', 'Every command and every edit waits for a yes; all stays inside the workspace.', {
    sandbox: 'workspace-write',
    network: true,
    onAsk: 'prompt',
    edits: 'ask',
    commands: 'ask',
  }),
  shipped('workspace-write', 'Workspace', 'Runs and edits freely inside the workspace; asks before it leaves it.', {
    sandbox: 'workspace-write',
    network: true,
    onAsk: 'prompt',
    edits: 'auto',
    commands: 'auto',
  }),
  shipped('full', 'Not confined', 'Commands do whatever you could do yourself. Nothing is asked.', {
    sandbox: 'full',
    network: true,
    onAsk: 'allow',
    edits: 'auto',
    commands: 'auto',
  }),
]

export const sameChoice = (a: PolicyChoice, b: PolicyChoice): boolean =>
  a.sandbox === b.sandbox &&
  a.network === b.network &&
  a.onAsk === b.onAsk &&
  a.edits === b.edits &&
  a.commands === b.commands

/** Presets with why they cannot be kept on this machine now. */
export const usableHere = (presets: readonly PermissionPreset[], verdict: SandboxVerdict): PermissionPreset[] =>
  presets.map((preset) => {
    if (preset.choice.sandbox === 'full' || verdict.enforcement === 'full' || verdict.enforcement === 'partial')
      return preset
    const unusable =
      verdict.enforcement === 'container'
        ? 'The container is the boundary here: nothing inside it confines commands further.'
        : `Nothing on this machine confines commands (${verdict.findings.join('; ')}).`
    return { ...preset, unusable }
  })

export const choiceOf = ({ sandbox, network, onAsk, edits, commands }: PinnedPolicy): PolicyChoice | undefined =>
  sandbox === null ? undefined : { sandbox, network, onAsk: onAsk ?? 'prompt', edits, commands }
