import { z } from 'zod'
import { SESSION_ID } from './ids.ts'
import type { LocalServer, Probe, SessionSettingsView } from './models.ts'
import type { ApprovalOutcome, PinnedPolicy, Rehearsed, SafetyView, SandboxVerdict, ShellView } from './safety.ts'
import type { ForkReport, PresetCheck } from './presets.ts'
import type { SessionRow, WorkspaceRow, DirectoryListing, ProviderView, ModelsView } from './views.ts'

const Session = z.string().regex(SESSION_ID)
const Id = z.string().min(1).max(256)
const Text = z.string().min(1).max(400_000)
const PresetId = z.string().max(256)
/** Of a new document: it names a file. */
const NewPresetId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/)
const Document = z.string().max(2_000_000)
const Dollars = z.number().positive().max(1_000_000)
const Chosen = z.strictObject({ provider: Id, model: Id, reasoningEffort: Id.optional() })
const Milliseconds = z.int().min(0).max(86_400_000)
const PriceArgs = z.strictObject({
  in: z.number().min(0),
  cacheRead: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
  out: z.number().min(0),
})
const FactsEdit = z.strictObject({
  contextWindow: z.int().positive().nullable().optional(),
  maxOutput: z.int().positive().nullable().optional(),
  inputs: z
    .array(z.enum(['text', 'image']))
    .min(1)
    .nullable()
    .optional(),
  price: PriceArgs.nullable().optional(),
})
const ChoiceArgs = z.strictObject({
  sandbox: z.enum(['read-only', 'workspace-write', 'full']),
  network: z.boolean(),
  onAsk: z.enum(['prompt', 'deny', 'allow']),
  edits: z.enum(['auto', 'ask']),
  commands: z.enum(['auto', 'ask']),
})
const RuleArgs = z.strictObject({
  effect: z.enum(['deny', 'ask', 'allow']),
  tool: z.string().min(1).max(256),
  match: z.strictObject({ kind: z.enum(['prefix', 'glob']), text: z.string().min(1).max(4096) }).optional(),
  scope: z.enum(['session', 'workspace', 'host']),
})
const JsonMap = z.record(z.string(), z.json())
/** The schema of `RouteOptions`, for commands and for the settings file alike. */
export const RouteOptionsArgs = z.strictObject({
  headers: z.record(z.string().min(1).max(256), z.string().max(8_192)).optional(),
  retry: z
    .strictObject({
      mode: z.enum(['normal', 'always', 'off']),
      retries: z.int().min(0).max(10_000).optional(),
      baseMs: Milliseconds.optional(),
      capMs: Milliseconds.optional(),
    })
    .optional(),
  firstByteMs: Milliseconds.optional(),
  idleMs: Milliseconds.optional(),
  proxy: z.string().min(1).max(2_048).optional(),
  extraBody: JsonMap.optional(),
  models: z.array(Id).max(500).optional(),
  facts: z.record(Id, FactsEdit).optional(),
  efforts: z
    .array(z.strictObject({ id: Id, body: JsonMap, default: z.boolean().optional() }))
    .max(20)
    .optional(),
  discover: z.boolean().optional(),
  includeUsage: z.boolean().optional(),
  dropForeignChunks: z.boolean().optional(),
  malformedArguments: z.enum(['raw', 'wrap']).optional(),
  inlineThink: z.boolean().optional(),
  sendBack: z.enum(['none', 'reasoning_content', 'reasoning', 'reasoning_details']).optional(),
})

/**
 * Everything a browser may ask for that changes something, one schema per command.
 * A command is sent with a client-made `id`, is idempotent under that id, and gets exactly one `ack` or `error`.
 */
export const COMMANDS = {
  'session.create': z.strictObject({
    session: Session.optional(),
    workspace: Id.optional(),
    preset: PresetId.optional(),
    selection: z
      .strictObject({ provider: Id, model: Id, reasoningEffort: Id.optional(), alsoDefault: z.boolean().optional() })
      .optional(),
    /** Id of a permission preset; absent: the default one. Pinned at creation. */
    permission: Id.optional(),
    /** Sent as the first prompt in the same command, so that nothing is created without it. */
    prompt: Text.optional(),
  }),
  'session.prompt': z.strictObject({ session: Session, text: Text, mode: z.enum(['queue', 'steer']).default('queue') }),
  'session.stop': z.strictObject({ session: Session }),
  'session.rename': z.strictObject({ session: Session, title: z.string().trim().min(1).max(200) }),
  'session.pin': z.strictObject({ session: Session, pinned: z.boolean() }),
  'session.archive': z.strictObject({ session: Session, archived: z.boolean() }),
  'session.delete': z.strictObject({ session: Session }),
  'session.restore': z.strictObject({ session: Session }),
  'session.fork': z.strictObject({
    session: Session,
    seq: z.int().min(0).optional(),
    preset: PresetId.optional(),
  }),
  /** Changes nothing: what a fork into `preset` would keep and lose. */
  'session.fork-check': z.strictObject({ session: Session, seq: z.int().min(0).optional(), preset: PresetId }),
  'queue.edit': z.strictObject({ session: Session, message: Id, text: Text }),
  'queue.remove': z.strictObject({ session: Session, message: Id }),
  'queue.send-now': z.strictObject({ session: Session, message: Id }),
  'preset.select': z.strictObject({ session: Session, preset: PresetId }),
  /** The user's default; null gives the choice back to the deployment. */
  'preset.default': z.strictObject({ preset: PresetId.nullable() }),
  /**
   * Changes nothing: parses, mounts on trial, assembles, unmounts. `preset` is the one that the text is an edit of. Without
   * `trial` nothing that the text names is run, for a text from elsewhere that nobody has decided to trust yet.
   */
  'preset.check': z.strictObject({ text: Document, preset: PresetId.optional(), trial: z.boolean().default(true) }),
  'preset.copy': z.strictObject({ from: PresetId, id: NewPresetId, name: z.string().max(200).optional() }),
  /** A whole document; `id` replaces the one it declares. */
  'preset.import': z.strictObject({ text: Document, id: NewPresetId.optional() }),
  /** `base` is the digest of the text that was edited: a file that changed meanwhile is not overwritten. */
  'preset.save': z.strictObject({ preset: PresetId, text: Document, base: z.string().max(128) }),
  /** Absent: as it is. Null: taken out. */
  'preset.describe': z.strictObject({
    preset: PresetId,
    name: z.string().max(200).nullable().optional(),
    description: z.string().max(4000).nullable().optional(),
    order: z.number().nullable().optional(),
  }),
  'preset.delete': z.strictObject({ preset: PresetId }),
  /** Moves the blank sessions of older generations to the newest. */
  'preset.move-blank': z.strictObject({ preset: PresetId }),
  'model.select': z.strictObject({
    session: Session,
    provider: Id,
    model: Id,
    reasoningEffort: Id.optional(),
    alsoDefault: z.boolean().default(true),
  }),
  'model.default': Chosen,
  /** What a person knows better of one model, its price among others; null gives everything back to the catalog. */
  'model.facts': z.strictObject({ provider: Id, model: Id, facts: FactsEdit.nullable() }),
  /** Absent: as it is. Null: no limit. */
  'budget.save': z.strictObject({ session: Dollars.nullable().optional(), day: Dollars.nullable().optional() }),
  /** A limit of this session's own; null gives it back to the host's. */
  'session.budget': z.strictObject({ session: Session, limit: Dollars.nullable() }),
  /** The model that writes titles; null: they follow from the first prompt. */
  'titles.save': z.strictObject({ selection: Chosen.nullable() }),
  'workspace.add': z.strictObject({ path: z.string().min(1).max(4096), confirmed: z.boolean().default(false) }),
  'workspace.remove': z.strictObject({ workspace: Id }),
  /** One of both: a permission preset, or a choice of its own. A shell that runs is ended and starts anew. */
  'permission.select': z.union([
    z.strictObject({ session: Session, preset: Id }),
    z.strictObject({ session: Session, choice: ChoiceArgs }),
  ]),
  /** Makes a permission preset of a person's own, or changes it. */
  'permission.save': z.strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
    name: z.string().min(1).max(100),
    description: z.string().max(400).optional(),
    choice: ChoiceArgs,
  }),
  'permission.remove': z.strictObject({ preset: Id }),
  /** What new sessions get; null gives the choice back to the deployment. */
  'permission.default': z.strictObject({ preset: Id.nullable() }),
  /** Null: asks wait for ever. */
  'permission.wait': z.strictObject({ waitMs: z.int().min(10_000).max(604_800_000).nullable() }),
  /** `session` names the session of a session rule, and the workspace of a workspace rule. */
  'rule.add': z.strictObject({ session: Session.optional(), rule: RuleArgs }),
  'rule.remove': z.strictObject({ session: Session.optional(), rule: Id }),
  /** Changes nothing: what the rule would have made of past calls, newest first. */
  'rule.rehearse': z.strictObject({
    session: Session.optional(),
    rule: RuleArgs,
    limit: z.int().min(1).max(500).default(100),
  }),
  /** `digest` is of the arguments that the person saw. */
  'approval.answer': z.strictObject({
    session: Session,
    approval: Id,
    digest: z.string().min(1).max(128),
    answer: z.enum(['once', 'session', 'reject']),
    note: z.string().max(4000).optional(),
  }),
  /** Tries again what confines commands on this machine. */
  'sandbox.probe': z.strictObject({}),
  /** Frames `shell` follow until `watching` is false, or the tab is gone. */
  'shell.watch': z.strictObject({ session: Session, watching: z.boolean(), answering: z.boolean().default(false) }),
  /** Typed into the running command's terminal, as it is; a line ends with a line feed. */
  'shell.input': z.strictObject({ session: Session, text: z.string().min(1).max(4096) }),
  'workspace.browse': z.strictObject({ path: z.string().max(4096).optional() }),
  /**
   * Makes a route of a person's own, or changes one. A shipped id keeps its label and wire; for an own one the three first
   * fields are needed when it is made. What is absent stays; `options` is replaced as a whole.
   */
  'provider.save': z.strictObject({
    id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
    label: z.string().min(1).max(100).optional(),
    wire: z.enum(['chat', 'responses', 'messages', 'gemini']).optional(),
    baseURL: z.url().optional(),
    key: z
      .union([z.enum(['stored', 'none']), z.templateLiteral(['env:', z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)])])
      .optional(),
    options: RouteOptionsArgs.optional(),
  }),
  /** Gives a shipped provider its address and options back; its key stays. */
  'provider.reset': z.strictObject({ provider: Id }),
  /** Asks the endpoint again which models it has. */
  'provider.refresh': z.strictObject({ provider: Id }),
  /** Looks on the usual ports of 127.0.0.1 for model servers; nothing leaves the machine. */
  'provider.find-local': z.strictObject({}),
  'provider.remove': z.strictObject({ provider: Id }),
  'provider.test': z.strictObject({ provider: Id, model: Id.optional() }),
  'credential.set': z.strictObject({ provider: Id, key: z.string().min(1).max(4096) }),
  'credential.remove': z.strictObject({ provider: Id }),
} as const

export type CommandName = keyof typeof COMMANDS
export type CommandArgs<N extends CommandName> = z.input<(typeof COMMANDS)[N]>
export type ParsedArgs<N extends CommandName> = z.output<(typeof COMMANDS)[N]>

type DefaultSaved = { saved: true } | { saved: false; reason: string }

export interface CommandResults {
  'session.create': { session: string; preset?: string; default?: DefaultSaved }
  'session.prompt': { message: string }
  'session.stop': { stopped: boolean }
  'session.rename': { title: string }
  'session.pin': { pinned: boolean }
  'session.archive': { archived: boolean }
  'session.delete': { session: string }
  'session.restore': { session: string; row: SessionRow }
  'session.fork': { session: string }
  'session.fork-check': ForkReport
  'queue.edit': { message: string }
  'queue.remove': { message: string; text: string }
  'queue.send-now': { message: string }
  'preset.select': { preset: string }
  /** The default in force now. */
  'preset.default': { preset: string }
  'preset.check': PresetCheck
  'preset.copy': { preset: string }
  'preset.import': { preset: string }
  /** `generation` is what new sessions get now. */
  'preset.save': { preset: string; digest: string; generation: number }
  'preset.describe': { preset: string }
  /** `text` brings it back with `preset.import`. */
  'preset.delete': { preset: string; text: string }
  'preset.move-blank': { moved: string[]; left: { session: string; reason: string }[] }
  /** Absent `default`: the pick was not to become the default. */
  'model.select': { default?: DefaultSaved }
  'model.default': { saved: true; models: ModelsView }
  'workspace.add': { workspace: WorkspaceRow }
  'workspace.remove': { workspace: string }
  'workspace.browse': DirectoryListing
  'permission.select': { policy: PinnedPolicy }
  'permission.save': SafetyView
  'permission.remove': SafetyView
  'permission.default': SafetyView
  'permission.wait': SafetyView
  'rule.add': { rule: string }
  'rule.remove': { rule: string }
  'rule.rehearse': { calls: Rehearsed[]; matched: number; looked: number }
  'approval.answer': { outcome: ApprovalOutcome }
  'sandbox.probe': SandboxVerdict
  'shell.watch': ShellView
  'shell.input': { bytes: number }
  'model.facts': { provider: ProviderView }
  'budget.save': SessionSettingsView
  'session.budget': { limit: number | null }
  'titles.save': SessionSettingsView
  'provider.save': { provider: ProviderView }
  'provider.reset': { provider: ProviderView }
  'provider.refresh': { provider: ProviderView }
  'provider.find-local': { servers: LocalServer[] }
  'provider.remove': { provider: string }
  'provider.test': Probe
  'credential.set': { provider: ProviderView }
  'credential.remove': { provider: ProviderView }
}
