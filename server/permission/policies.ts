import { CoreError } from '../wire/errors.ts'
import { draft, type Draft } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import type {
  LastingRule,
  PermissionPreset,
  PinnedPolicy,
  Policy,
  PolicyChoice,
  Rule,
  SafetyView,
  SandboxVerdict,
} from '../wire/safety.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { ParsedArgs } from '../wire/commands.ts'
import { SHIPPED, choiceOf, sameChoice, usableHere } from './presets.ts'
import { ruleProblem } from './rules.ts'

type Config = Readonly<Record<string, unknown>>

interface OwnPreset {
  id: string
  name: string
  description?: string
  choice: PolicyChoice
}

/** As the row's configuration has it. `waitMs` null: asks wait for ever. */
export interface PolicySettings {
  default?: string
  presets?: readonly OwnPreset[]
  rules?: readonly LastingRule[]
  waitMs?: number | null
}

/** What the policy of a session follows from, beside its log. */
export interface PolicySubject {
  cwd: string
  pinned: PinnedPolicy
}

export interface PoliciesOptions {
  /** The live configuration; asked at every call. */
  read(): PolicySettings
  /** Edits the configuration as the file has it; undefined where nothing can be written. */
  edit(): ((derive: (config: Config) => Config) => Promise<void>) | undefined
  /** The live agent of a session; undefined when none runs here. */
  subject(session: string): PolicySubject | undefined
  sandbox: {
    verdict(): SandboxVerdict
    reprobe(): Promise<SandboxVerdict>
    placesOf(session: string, workspace: string): Pick<Policy, 'roots' | 'masks' | 'guarded' | 'mounts'>
  }
  /** The image is the boundary: nothing inside it confines further. */
  container: boolean
  /** Ends what runs in an agent under a former choice. */
  endShell(agent: ScopeKey): Promise<void>
}

/** How long an ask waits once nobody looks (ms). */
export const DEFAULT_WAIT_MS = 600_000
export const CUSTOM = 'custom'

/** What each session is held to, and the named choices behind it. The sandbox enforces; this only says what. */
export class Policies {
  readonly #options: PoliciesOptions
  readonly #observers = new Set<(view: SafetyView) => void>()
  /** Where a session's places are is looked up once per folder; links of a workspace do not move under a session. */
  readonly #places = new Map<string, { cwd: string; places: ReturnType<PoliciesOptions['sandbox']['placesOf']> }>()
  #told = ''

  constructor(options: PoliciesOptions) {
    this.#options = options
  }

  /** Undefined: the session was never pinned, or no agent of it runs here; nothing confines it. */
  policyFor(session: string): Policy | undefined {
    const subject = this.#options.subject(session)
    const choice = subject && choiceOf(subject.pinned)
    if (!subject || !choice) return undefined
    const places = this.#placesOf(session, subject.cwd)
    const lasting = this.#lasting().filter(({ workspace }) => workspace === undefined || workspace === subject.cwd)
    const mounts = choice.sandbox === 'full' ? [] : places.mounts
    return { ...choice, ...places, mounts, rules: [...subject.pinned.rules, ...lasting] }
  }

  /** The session's choice changed: a shell was opened under the former one, and so were its background jobs. */
  changed(agent: ScopeKey): Promise<void> {
    return this.#options.endShell(agent)
  }

  /** The session is gone: its places are not needed any more. */
  forget(session: string): void {
    this.#places.delete(session)
  }

  view(): SafetyView {
    const { waitMs = DEFAULT_WAIT_MS } = this.#options.read()
    const verdict = this.#options.sandbox.verdict()
    return {
      verdict,
      presets: usableHere(this.#presets(), verdict),
      default: this.#defaultId(),
      rules: this.#lasting(),
      waitMs,
    }
  }

  onChange(observer: (view: SafetyView) => void): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  /** Configuration or verdict may have changed; observers hear of what differs. */
  reread(): void {
    const view = this.view()
    const text = JSON.stringify(view)
    if (text === this.#told) return
    this.#told = text
    for (const observer of this.#observers) observer(view)
  }

  /** The events that pin a new session; they never create its file alone. Throws `permission/not-found`. */
  pins(preset?: string): Draft[] {
    const id = preset ?? this.#defaultId()
    const { choice } = this.#find(id)
    return eventsOf(id, choice, preset === undefined ? (this.#options.container ? 'container' : 'default') : undefined)
  }

  /** The events of a person's choice. Throws `permission/not-found`, and `permission/unusable` for what nothing here can keep. */
  chosen(args: { preset: string } | { choice: PolicyChoice }): Draft[] {
    const named =
      'preset' in args ? this.#find(args.preset) : this.#presets().find(({ choice }) => sameChoice(choice, args.choice))
    const choice = 'choice' in args ? args.choice : this.#find(args.preset).choice
    const { verdict } = this.view()
    const [usable] = usableHere([{ id: CUSTOM, name: '', description: '', own: true, choice }], verdict)
    if (usable?.unusable !== undefined)
      throw new CoreError('permission/unusable', [usable.unusable, ...verdict.fix].join(' '), {
        sandbox: choice.sandbox,
      })
    return eventsOf(named?.id ?? CUSTOM, choice, undefined)
  }

  async save(args: ParsedArgs<'permission.save'>): Promise<SafetyView> {
    if (args.id === CUSTOM || SHIPPED.some(({ id }) => id === args.id))
      throw new CoreError('permission/invalid', `${args.id} is a name of this program. Give yours another one.`)
    const { id, name, description, choice } = args
    const made = { id, name, ...(description !== undefined && { description }), choice }
    return this.#save((config) => {
      const presets = (config['presets'] as OwnPreset[] | undefined) ?? []
      const others = presets.some((each) => each.id === id)
        ? presets.map((each) => (each.id === id ? made : each))
        : [...presets, made]
      return { ...config, presets: others }
    })
  }

  async remove(preset: string): Promise<SafetyView> {
    const { own } = this.#find(preset)
    if (!own) throw new CoreError('permission/invalid', `${preset} comes with this program and stays.`)
    return this.#save(({ default: chosen, ...config }) => {
      const presets = (config['presets'] as OwnPreset[] | undefined) ?? []
      const left = presets.filter(({ id }) => id !== preset)
      return {
        ...withKey(config, 'presets', left.length > 0 ? left : undefined),
        ...(chosen !== undefined && chosen !== preset && { default: chosen }),
      }
    })
  }

  async saveDefault(preset: string | null): Promise<SafetyView> {
    if (preset !== null) this.#find(preset)
    return this.#save((config) => withKey(config, 'default', preset ?? undefined))
  }

  async saveWait(waitMs: number | null): Promise<SafetyView> {
    return this.#save((config) => ({ ...config, waitMs }))
  }

  /** A rule of the host or of a workspace. Answers its id. */
  async addRule(rule: Omit<Rule, 'id'>, workspace?: string): Promise<string> {
    const made: LastingRule = {
      ...checkedRule(rule),
      ...(rule.scope === 'workspace' && workspace !== undefined && { workspace }),
    }
    await this.#save((config) => ({
      ...config,
      rules: [...((config['rules'] as LastingRule[] | undefined) ?? []), made],
    }))
    return made.id
  }

  async removeRule(id: string): Promise<void> {
    if (!this.#lasting().some((rule) => rule.id === id))
      throw new CoreError('permission/not-found', 'That rule is not there any more.')
    await this.#save((config) => {
      const left = ((config['rules'] as LastingRule[] | undefined) ?? []).filter((rule) => rule.id !== id)
      return withKey(config, 'rules', left.length > 0 ? left : undefined)
    })
  }

  /** Tries again what confines commands here. */
  async probe(): Promise<SandboxVerdict> {
    const verdict = await this.#options.sandbox.reprobe()
    this.reread()
    return verdict
  }

  #placesOf(session: string, cwd: string) {
    const known = this.#places.get(session)
    if (known?.cwd === cwd) return known.places
    const places = this.#options.sandbox.placesOf(session, cwd)
    this.#places.set(session, { cwd, places })
    return places
  }

  #lasting(): LastingRule[] {
    return [...(this.#options.read().rules ?? [])]
  }

  #presets(): PermissionPreset[] {
    const own = (this.#options.read().presets ?? []).map(({ description = '', ...preset }) => ({
      ...preset,
      description,
      own: true,
    }))
    return [...SHIPPED, ...own]
  }

  #find(id: string): PermissionPreset {
    const found = this.#presets().find((preset) => preset.id === id)
    if (found) return found
    throw new CoreError('permission/not-found', `There is no permission preset ${id}. Choose another one.`, {
      preset: id,
    })
  }

  #defaultId(): string {
    const chosen = this.#options.read().default
    if (chosen !== undefined && this.#presets().some(({ id }) => id === chosen)) return chosen
    return this.#options.container ? 'full' : 'workspace-write'
  }

  async #save(derive: (config: Config) => Config): Promise<SafetyView> {
    const edit = this.#options.edit()
    if (!edit)
      throw new CoreError('settings/not-saved', 'This host keeps no settings: it runs without the row config-editor.')
    await edit(derive)
    this.reread()
    return this.view()
  }
}

/** A rule with an id of its own. Throws `permission/invalid` for one that can never match. */
export function checkedRule(rule: Omit<Rule, 'id'>): Rule {
  const problem = ruleProblem(rule)
  if (problem !== undefined) throw new CoreError('permission/invalid', `This rule would never match: ${problem}.`)
  return { id: newId(), ...rule }
}

function eventsOf(
  preset: string,
  { sandbox, network, onAsk, edits, commands }: PolicyChoice,
  source: string | undefined,
): Draft[] {
  const by = source === undefined ? {} : { source }
  return [
    draft('permission/preset', { preset }),
    draft('sandbox/mode', { mode: sandbox, network, ...by }),
    draft('approval/policy', { policy: onAsk, edits, commands, ...by }),
  ]
}

const withKey = (config: Config, key: string, value: unknown): Config => {
  const { [key]: _old, ...others } = config
  return value === undefined ? others : { ...others, [key]: value }
}
