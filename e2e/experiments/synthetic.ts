import '../../server/plugins/context.ts'
import { z } from 'zod'
import { effortCard, fillHeader } from '../../server/model/header.ts'
import { plugin } from '../../server/preset/kernel.ts'
import { scopeOf } from '../../server/preset/scope-tag.ts'
import { text } from '../../server/tool/tool.ts'
import type { BuiltRequest, EffortCard, ModelFacts, Route, StreamEvent } from '../../server/model/port.ts'
import type { Catalog, CatalogEntry, Plane } from '../../server/preset/loader.ts'
import type { CallConfig } from '../../server/wire/messages.ts'

/** What a synthetic model was asked: the call as it was prepared, and the texts that came with it. */
export interface Asked {
  provider: string
  model: string
  effort: string | undefined
  system: string
  tools: string[]
}

interface Entry {
  options: { id: string }
  parent: { remove(id: string): unknown }
  fiber?: { inertia?: Promise<unknown> }
}

/** A settings file that an experiment answers for: every edit waits until it is let through or refused. */
export interface HeldEdit {
  row: string
  config: object
  finish(): void
  refuse(reason: string): void
}

/** What the synthetic rows of one host report, and what holds them. */
export class Bench {
  readonly asked: Asked[] = []
  /** How often each synthetic tool row was started. */
  readonly started: Record<string, number> = {}
  /** Rows that were found in a running preset tree, by their label. */
  readonly rows: Record<string, Entry> = {}
  readonly edits: HeldEdit[] = []
  #gate: PromiseWithResolvers<void> | undefined
  #asking = Promise.withResolvers<void>()
  #editing = Promise.withResolvers<void>()

  /** From now on answers wait until the returned function is called. */
  hold(): () => void {
    this.#gate = Promise.withResolvers()
    return () => this.#gate?.resolve()
  }

  /** Resolves once the model has been asked `count` times. */
  async askedTimes(count: number): Promise<void> {
    while (this.asked.length < count) await this.#asking.promise
  }

  async editedTimes(count: number): Promise<void> {
    while (this.edits.length < count) await this.#editing.promise
  }

  async *answer(config: CallConfig, request: BuiltRequest): AsyncGenerator<StreamEvent> {
    this.asked.push({
      provider: config.provider,
      model: config.model,
      effort: config.reasoningEffort,
      system: request.system,
      tools: request.tools.map(({ name }) => name),
    })
    this.#asking.resolve()
    this.#asking = Promise.withResolvers()
    await this.#gate?.promise
    yield { t: 'open', i: 0, kind: 'text' }
    yield { t: 'delta', i: 0, s: 'A synthetic answer.' }
    yield { t: 'close', i: 0 }
    yield { t: 'end', finish: { kind: 'stop' } }
  }

  edit(row: string, derive: (config: object) => object): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const refuse = (reason: string) => reject(new Error(reason))
    this.edits.push({ row, config: derive({}), finish: resolve, refuse })
    this.#editing.resolve()
    this.#editing = Promise.withResolvers()
    return promise
  }
}

const EFFORTS: EffortCard[] = [{ id: 'low' }, { id: 'high' }]
/** `model-filled` is the one whose adapter fills in an effort that nobody asked for. */
const FILLED: EffortCard[] = [{ id: 'low' }, { id: 'medium', default: true }]

function facts(id: string): ModelFacts {
  const efforts = id === 'model-filled' ? FILLED : EFFORTS
  return { id, name: id, inputs: ['text'], reasoning: true, efforts, listed: true }
}

function route(id: string, models: string[], bench: Bench): Route {
  const retry = { mode: 'normal' as const, retries: 0, baseMs: 0, capMs: 0, jitter: 0 }
  return {
    id,
    label: id,
    wire: 'replay',
    retry,
    models: async () => models.map(facts),
    describe: async (model) => facts(model),
    async prepare(config) {
      const known = facts(config.model)
      effortCard(known, config.reasoningEffort)
      return {
        header: fillHeader(config, known),
        facts: known,
        retry,
        stream: (request) => bench.answer(config, request),
      }
    },
  }
}

const named = z.strictObject({ name: z.string() })
const textRow = z.strictObject({ name: z.string(), text: z.string(), required: z.boolean().default(false) })

const row = (plane: Plane | 'any', value: unknown): CatalogEntry => ({ plane, load: () => Promise.resolve(value) })

function toolRow(bench: Bench): unknown {
  return plugin({
    name: 'synthetic-tool',
    inject: ['tools'],
    config: named,
    apply(ctx, { name }: z.output<typeof named>) {
      bench.started[name] = (bench.started[name] ?? 0) + 1
      const spec = { name, description: `${name}.`, parameters: { type: 'object' } }
      ctx.effect(() => ctx.tools.add(scopeOf(ctx) ?? null, { spec, run: async () => text(name) }))
    },
  })
}

const guidanceRow = plugin({
  name: 'synthetic-guidance',
  inject: ['systemPrompt'],
  config: textRow,
  apply(ctx, { name, text: said }: z.output<typeof textRow>) {
    ctx.effect(() => ctx.systemPrompt.section(scopeOf(ctx) ?? null, { name, order: 1000, text: said }))
  },
})

const contextRow = plugin({
  name: 'synthetic-context',
  inject: ['systemPrompt'],
  config: textRow,
  apply(ctx, { name, text: said, required }: z.output<typeof textRow>) {
    ctx.effect(() => ctx.systemPrompt.context(scopeOf(ctx) ?? null, { name, text: said, required }))
  },
})

function handleRow(bench: Bench): unknown {
  return plugin({
    name: 'synthetic-handle',
    config: named,
    apply(ctx, { name }: z.output<typeof named>) {
      bench.rows[name] = ctx.fiber.entry as unknown as Entry
    },
  })
}

const providerRow = plugin({
  name: 'synthetic-provider',
  apply(ctx) {
    ctx.provide('syntheticService', { from: ctx.fiber.entry?.options.id })
  },
})

const lateRow = plugin({
  name: 'synthetic-late',
  apply: (ctx) => void ctx.provide('exampleLateService', {}),
})

const waitingRow = plugin({ name: 'synthetic-waiting', inject: ['exampleLateService' as 'tools'], apply() {} })

const throwingRow = plugin({
  name: 'synthetic-thrower',
  apply() {
    throw new Error('the synthetic row gives up')
  },
})

function modelsRow(bench: Bench): unknown {
  return plugin({
    name: 'synthetic-models',
    inject: ['llm'],
    apply(ctx) {
      ctx.effect(() => ctx.llm.add(route('route-a', ['model-a', 'model-filled'], bench)))
      ctx.effect(() => ctx.llm.add(route('route-b', ['model-b'], bench)))
    },
  })
}

function editorRow(bench: Bench): unknown {
  return plugin({
    name: 'synthetic-editor',
    apply: (ctx) => void ctx.provide('configEditor', { edit: bench.edit.bind(bench) } as never),
  })
}

/** The synthetic rows by the names under which the experiments' documents use them. */
export const syntheticRows = (bench: Bench): Catalog => ({
  'synthetic-tool': row('preset', toolRow(bench)),
  'synthetic-guidance': row('preset', guidanceRow),
  'synthetic-context': row('preset', contextRow),
  'synthetic-handle': row('preset', handleRow(bench)),
  'synthetic-provider': row('preset', providerRow),
  'synthetic-waiting': row('preset', waitingRow),
  'synthetic-thrower': row('preset', throwingRow),
  'synthetic-late': row('host', lateRow),
  'synthetic-models': row('host', modelsRow(bench)),
  'synthetic-editor': row('host', editorRow(bench)),
  // The shipped persona, on the plane where it may not stand: what it would do there is one of the experiments.
  'global-persona': { plane: 'any', load: () => import('../../server/plugins/persona.ts') },
})
