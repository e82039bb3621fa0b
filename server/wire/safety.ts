import type { JsonObject } from './json.ts'

export type SandboxMode = 'read-only' | 'workspace-write' | 'full'
export type RuleEffect = 'deny' | 'ask' | 'allow'
export type RuleScope = 'session' | 'workspace' | 'host'

/** `match` is held against a call's subject: the command of a single simple command, or the real path of a file call. */
export interface Rule {
  id: string
  effect: RuleEffect
  /** Name of a tool; `*` stands for any run of characters. */
  tool: string
  /** Absent: every call of the tool. `prefix` compares whole words of a command, `glob` a whole path or command. */
  match?: { kind: 'prefix' | 'glob'; text: string }
  scope: RuleScope
}

/** What a person chooses; named ones are permission presets. */
export interface PolicyChoice {
  sandbox: SandboxMode
  network: boolean
  onAsk: 'prompt' | 'deny' | 'allow'
  edits: 'auto' | 'ask'
  commands: 'auto' | 'ask'
}

export interface PermissionPreset {
  id: string
  name: string
  description: string
  choice: PolicyChoice
  own: boolean
  /** Why it cannot be chosen on this machine now (nothing confines). */
  unusable?: string
}

/** A choice with what follows from session and sandbox. Paths are real ones. */
export interface Policy extends PolicyChoice {
  rules: Rule[]
  /** Folders that may be written. */
  roots: string[]
  /** Folders that are hidden and may be neither read nor written. */
  masks: string[]
  /** Read-only places inside the roots. */
  guarded: string[]
  /** [shown, real]: the path the model writes and where it lies. */
  mounts: [string, string][]
}

export type Enforcement =
  /** Every promise of the profile holds. */
  | 'full'
  /** Files are confined, processes are seen and survive. */
  | 'partial'
  | 'none'
  /** The image is the boundary. */
  | 'container'

/** What the probe found, once at start and again when asked. */
export interface SandboxVerdict {
  enforcement: Enforcement
  runner?: 'bwrap' | 'landlock'
  version?: string
  /** What was tried and what came of it, one line each. */
  findings: string[]
  /** How to get a full one, in sentences; empty where there is nothing to do. */
  fix: string[]
  at: number
}

export type ApprovalOutcome = 'allowed-once' | 'allowed-session' | 'rejected' | 'cancelled' | 'unavailable'

/** Something that waits for a person. `digest` is of the exact arguments: an answer must name it. */
export interface PendingApproval {
  id: string
  turn: number
  step: number
  callId: string
  toolName: string
  args: JsonObject
  digest: string
  /** `escalate`: it would leave what the session is confined to, once. */
  kind: 'approve' | 'escalate'
  /** Why it is asked, in a sentence. */
  reason: string
  /** What it would touch: real paths, or the working folder of a command. */
  touches: string[]
  cwd: string
  /** Ms that it waits once nobody looks at the session; null: for ever. */
  waitMs: number | null
  askedAt: number
}

/** What a session is held to, as its log has it; null: never pinned (sessions of older versions), which confines nothing. */
export interface PinnedPolicy {
  /** Id of the permission preset, `custom` for a choice of its own. */
  preset: string | null
  sandbox: SandboxMode | null
  network: boolean
  onAsk: 'prompt' | 'deny' | 'allow' | null
  edits: 'auto' | 'ask'
  commands: 'auto' | 'ask'
  /** Of this session alone. */
  rules: Rule[]
}

/** A rule that outlives a session; `workspace` is the real path of its folder, absent for scope `host`. */
export interface LastingRule extends Rule {
  workspace?: string
}

/** Safety as every tab knows it. */
export interface SafetyView {
  verdict: SandboxVerdict
  /** Shipped ones first, then own ones. */
  presets: PermissionPreset[]
  /** Id of the preset that new sessions get. */
  default: string
  rules: LastingRule[]
  /** Ms; null: asks wait for ever. */
  waitMs: number | null
}

/** One past call that a proposed rule was held against. */
export interface Rehearsed {
  session: string
  seq: number
  toolName: string
  /** The command or the path. */
  subject: string
  /** What the rule makes of it; absent: the rule does not match. */
  effect?: RuleEffect
  /** Why a rule that looks alike does not match, e.g. that the command is not a single simple one. */
  why?: string
}

/** An agent's shell as a person sees it. */
export interface ShellView {
  /** Absent: no shell was started, or it has ended. */
  pid?: number
  cwd?: string
  running: { callId: string; since: number; foreground?: string } | null
  /** A person said that they answer what a command asks, so nothing is interrupted for wanting input. */
  answering: boolean
  /** The terminal does not show what is typed: a password is asked for. */
  hidden: boolean
}
