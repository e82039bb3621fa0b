import type { ToolSpec } from '../wire/messages.ts'
import { byCodeUnit, Layers, type Entry } from '../scope/layers.ts'
import type { ScopeKey, Scopes } from '../scope/scope.ts'
import { Provenances } from './provenance.ts'
import { VARIABLE_NAME } from './template.ts'
import type {
  AssembleEvent,
  AssembleInput,
  Assembly,
  ContextItem,
  ContextSpec,
  Section,
  SectionSpec,
  Text,
} from './assembly.ts'

export const PERSONA_PREFIX = 'deployment:persona-prefix'
export const PERSONA_SUFFIX = 'deployment:persona-suffix'
export const ORDER = { harness: -1000, prefix: 0, guidance: 1000, suffix: 10200 } as const

const HARNESS_IDENTITY =
  'You are an agent run by core-web: your messages, tool calls and their results are shown to the user in a browser and kept in a session log.'

export interface PromptConfig {
  personaPrefix?: string
  personaSuffix?: string
  includeHarnessIdentity?: boolean
}

/** Runs the `system-prompt/assemble` waterfall around `inner` for listeners that cover `scope`. */
export type AssembleWaterfall = (
  scope: ScopeKey,
  event: AssembleEvent,
  inner: () => Promise<Assembly>,
) => Promise<Assembly>

export interface AssembleRequest extends AssembleInput {
  tools: readonly ToolSpec[]
  /** Facts of this assembly (`cwd`, `provider`, `model`); they win over registered variables. */
  variables?: { [name: string]: string | undefined }
}

/** The registry of prompt sections, runtime contexts and variables, and the one that has the last word on an assembly. */
export class SystemPrompt {
  #sections: Layers<SectionSpec>
  #contexts: Layers<ContextSpec>
  #variables: Layers<Text>
  #suppressors: Layers<{ owner: string | undefined }>
  #waterfall: AssembleWaterfall
  #provenances = new Provenances()

  constructor(config: PromptConfig, world: { scopes: Scopes; waterfall?: AssembleWaterfall }) {
    this.#sections = new Layers(world.scopes, 'prompt section')
    this.#contexts = new Layers(world.scopes, 'prompt context')
    this.#variables = new Layers(world.scopes, 'prompt variable')
    this.#suppressors = new Layers(world.scopes, 'context suppressor')
    this.#waterfall = world.waterfall ?? ((_scope, _event, inner) => inner())
    if (config.includeHarnessIdentity ?? true)
      this.section(null, {
        name: 'harness:identity',
        order: ORDER.harness,
        text: HARNESS_IDENTITY,
        owner: 'system-prompt',
      })
    this.section(null, {
      name: PERSONA_PREFIX,
      order: ORDER.prefix,
      text: config.personaPrefix ?? '',
      owner: 'system-prompt',
    })
    this.section(null, {
      name: PERSONA_SUFFIX,
      order: ORDER.suffix,
      text: config.personaSuffix ?? '',
      owner: 'system-prompt',
    })
  }

  /** Throws when the name is taken in this scope. */
  section(scope: ScopeKey | null, spec: SectionSpec): () => void {
    return this.#sections.add(scope, spec.name, { ...spec })
  }

  context(scope: ScopeKey | null, spec: ContextSpec): () => void {
    return this.#contexts.add(scope, spec.name, { ...spec })
  }

  /** Throws on a name that no `{{reference}}` could spell. */
  variable(scope: ScopeKey | null, name: string, value: Text): () => void {
    if (!VARIABLE_NAME.test(name))
      throw new Error(`"${name}" is not a variable name: names match ${VARIABLE_NAME.source}`)
    return this.#variables.add(scope, name, value)
  }

  /** Drops optional runtime contexts for `scope` and everything below it until disposed. */
  suppressContexts(scope: ScopeKey | null, owner?: string): () => void {
    return this.#suppressors.addAnonymous(scope, { owner })
  }

  /** Rejects when two complete sections are in force, or when a provider or listener throws. */
  async assemble(request: AssembleRequest): Promise<Assembly> {
    const { tools, variables: facts, ...input } = request
    const sectionView = this.#sections.view(input.scope)
    const contextView = this.#contexts.view(input.scope)
    const suppressors = this.#suppressors.view(input.scope).anonymous
    const sections = [...sectionView.named.values()]
    const required = new Set<string>()
    for (const { name, value } of contextView.named.values()) if (value.required) required.add(name)
    const allowed = ({ name }: { name: string }): boolean => suppressors.length === 0 || required.has(name)
    const complete = onlyComplete(sections)
    const assembly: Assembly = {
      sections: await this.#collectSections(sections, input),
      contexts: await this.#collectContexts([...contextView.named.values()].filter(allowed), input),
      tools: tools.map((tool) => ({ ...tool })),
      variables: await this.#collectVariables(input, facts),
      provenance: { sections: [], contexts: [] },
    }
    const collected = assembly.sections.map((section) => ({ ...section }))
    const collectedContexts = assembly.contexts.map((item) => ({ ...item }))
    const result = await this.#waterfall(input.scope, { ...input, assembly }, async () => assembly)
    if (!result) throw new Error('a listener of system-prompt/assemble returned no assembly')

    const kept = complete ? collected.filter((section) => section.name === complete) : result.sections
    const keptContexts = result.contexts.filter(allowed)
    return {
      ...result,
      sections: inOrder(kept.map((section) => ({ ...section }))),
      contexts: inOrder(keptContexts),
      provenance: this.#provenances.of({
        scope: input.scope,
        variables: result.variables,
        sections: { view: sectionView, collected, offered: result.sections, kept, complete },
        contexts: {
          view: contextView,
          collected: collectedContexts,
          offered: result.contexts,
          kept: keptContexts,
          suppressors: suppressors.map(({ owner }) => owner),
        },
      }),
    }
  }

  async #collectSections(entries: Entry<SectionSpec>[], input: AssembleInput): Promise<Section[]> {
    const sections = entries.map(async ({ value: { text, ...rest } }) => ({
      ...rest,
      text: (await textFor('section', { ...rest, text }, input)) ?? '',
    }))
    return inOrder(await Promise.all(sections))
  }

  async #collectContexts(entries: Entry<ContextSpec>[], input: AssembleInput): Promise<ContextItem[]> {
    const contexts = entries.map(async ({ value: { text, order = 0, ...rest } }) => ({
      ...rest,
      order,
      text: (await textFor('context', { ...rest, text }, input)) ?? '',
    }))
    return inOrder(await Promise.all(contexts))
  }

  async #collectVariables(
    input: AssembleInput,
    facts: { [name: string]: string | undefined } = {},
  ): Promise<Assembly['variables']> {
    const entries = [...this.#variables.view(input.scope).named.values()]
    const values = await Promise.all(
      entries.map(async ({ name, value }) => [name, await textFor('variable', { name, text: value }, input)] as const),
    )
    return { ...Object.fromEntries(values), ...facts }
  }
}

interface Source {
  name: string
  owner?: string
  text: Text
}

/** A text that cannot be made is blamed on who registered it. */
function textFor(kind: string, { name, owner, text }: Source, input: AssembleInput): ReturnType<Exclude<Text, string>> {
  if (typeof text === 'string') return text
  const blame = (error: unknown): never => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${kind} ${name}${owner === undefined ? '' : ` of ${owner}`}: ${reason}`, { cause: error })
  }
  try {
    const made = text(input)
    return made instanceof Promise ? made.catch(blame) : made
  } catch (error) {
    return blame(error)
  }
}

const inOrder = <T extends { name: string; order: number }>(items: T[]): T[] =>
  items.toSorted((a, b) => a.order - b.order || byCodeUnit(a.name, b.name))

function onlyComplete(sections: Entry<SectionSpec>[]): string | undefined {
  const names = sections.filter((entry) => entry.value.complete).map((entry) => entry.name)
  if (names.length > 1)
    throw new Error(`more than one complete prompt section is in force: ${names.toSorted(byCodeUnit).join(', ')}`)
  return names[0]
}
