import { z } from 'zod'
import { SESSION_ID } from './ids.ts'
import type { ForkReport, PresetCheck } from './presets.ts'
import type { SessionRow, WorkspaceRow, DirectoryListing, ProviderView, ModelsView } from './views.ts'

const Session = z.string().regex(SESSION_ID)
const Id = z.string().min(1).max(256)
const Text = z.string().min(1).max(400_000)
const PresetId = z.string().max(256)
/** Of a new document: it names a file. */
const NewPresetId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/)
const Document = z.string().max(2_000_000)

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
  'model.default': z.strictObject({ provider: Id, model: Id, reasoningEffort: Id.optional() }),
  'workspace.add': z.strictObject({ path: z.string().min(1).max(4096), confirmed: z.boolean().default(false) }),
  'workspace.remove': z.strictObject({ workspace: Id }),
  'workspace.browse': z.strictObject({ path: z.string().max(4096).optional() }),
  'provider.save': z.strictObject({
    id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
    label: z.string().min(1).max(100),
    wire: z.enum(['chat', 'responses', 'messages', 'gemini']),
    baseURL: z.url(),
    keyless: z.boolean().default(false),
    models: z.array(Id).max(500).optional(),
  }),
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
  'provider.save': { provider: ProviderView }
  'provider.remove': { provider: string }
  'provider.test': {
    ok: boolean
    code?: string
    message: string
    asked: { method: string; url: string; model?: string }
    answered?: { status?: number; ms: number; text?: string; models?: string[] }
  }
  'credential.set': { provider: ProviderView }
  'credential.remove': { provider: ProviderView }
}
