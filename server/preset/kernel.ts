import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { EntryGroup } from '@deepseek-ai/cordis-plugin-loader'
import { createVolatile } from '@deepseek-ai/cosmokit'
import { z } from 'zod'
import { retiredKeys, withoutRetired, type Renames } from './retired.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import type { Volatile } from '@deepseek-ai/cosmokit'

/** Cordis declares its fiber states as an ambient const enum, which has no runtime export. */
export const STATE = { PENDING: 0, LOADING: 1, ACTIVE: 2, FAILED: 3, DISPOSED: 4, UNLOADING: 5 } as const

type Stop = () => void | Promise<void>

interface Issue {
  message: string
  path?: readonly unknown[]
}

interface Schema<T> {
  '~standard': {
    version: 1
    vendor: string
    types?: { input: unknown; output: T } | undefined
    validate(value: unknown): unknown
  }
}

interface PluginSource<T> {
  name: string
  inject?: readonly (keyof Context & string)[]
  config?: Schema<T>
  /** The config holds rows of its own: it arrives raw, with expressions unevaluated (B-04). */
  carriesRows?: boolean
  /** Retired config keys and the names that replaced them; the plugin reads both. */
  retired?: Renames
  apply(ctx: Context, config: T): void | Stop | Promise<void | Stop>
}

/** What a plugin module of this project exports by default. */
export interface RowPlugin {
  name: string
  inject: string[]
  Config: unknown
  /** The config as zod knows it, for checks and completion; absent where rows are carried or the schema is another library's. */
  schema?: z.ZodType
  retired?: Renames
  apply(ctx: Context, config: never): Promise<void | Stop>
}

/** The row in whose activation this code runs, whichever services it went through. */
const activation = new AsyncLocalStorage<Entry>()

const renames = new WeakMap<object, Renames>()

/** The retired keys of the plugin behind this callback. */
export const renamesOf = (callback: object | undefined): Renames => (callback && renames.get(callback)) ?? {}

/** A row that takes no config refuses every key of one. */
const NO_CONFIG = z.strictObject({})

/** The schema that a volatile wrapper stands around. */
function zodOf(schema: unknown): z.ZodType | undefined {
  if (schema instanceof z.ZodType) return schema
  const { zod } = schema as { zod?: unknown }
  return zod instanceof z.ZodType ? zod : undefined
}

/**
 * A plugin in the one shape that Cordis treats as meant: it calls a `function` declaration with `new`, which drops the
 * returned disposer and the promise; an async arrow is called.
 */
export function plugin<T = undefined>(source: PluginSource<T>): RowPlugin {
  const { retired = {} } = source
  const apply = async (ctx: Context, config: T): Promise<void | Stop> => {
    const { entry } = ctx.fiber
    for (const { message } of retiredKeys(retired, entry?.options.config))
      ctx.logger.warn('row %s: %s', entry?.id, message)
    return entry ? activation.run(entry, () => source.apply(ctx, config)) : source.apply(ctx, config)
  }
  renames.set(apply, retired)
  if (source.carriesRows) Object.assign(apply, { [EntryGroup.key]: true })
  const inject = [...(source.inject ?? [])]
  const config = source.config ?? (source.carriesRows ? undefined : (NO_CONFIG as unknown as Schema<T>))
  const schema = config && zodOf(config)
  return {
    name: source.name,
    inject,
    Config: config && rowSchema(config, retired),
    ...(schema && { schema }),
    ...(source.retired && { retired: source.retired }),
    apply: apply,
  }
}

/** A row without `config` counts as `{}`; an issue of the whole value loses its empty path, which Cordis prints as `(at )`. */
function rowSchema<T>(schema: Schema<T>, retired: Renames): Schema<T> {
  const standard = schema['~standard']
  const validate = (value: unknown): unknown => {
    const result = standard.validate(withoutRetired(retired, value ?? {})) as { issues?: Issue[] }
    if (!result.issues) return result
    return { issues: result.issues.map((issue) => (issue.path?.length ? issue : { message: issue.message })) }
  }
  return Object.assign(Object.create(schema) as Schema<T>, { '~standard': { ...standard, validate } })
}

type LiveOutput<S extends z.ZodRawShape, K extends keyof S & string> = Omit<z.output<z.ZodObject<S>>, K> & {
  [P in K]: Volatile<z.output<S[P]>>
}

/**
 * A config schema whose named fields arrive as references that the loader updates in place (3.4). The loader recognises
 * such fields by the vendor name and these three properties only, so they are spelled out here.
 */
export function live<S extends z.ZodRawShape, K extends keyof S & string>(
  schema: z.ZodObject<S>,
  ...fields: K[]
): Schema<LiveOutput<S, K>> & { type: 'object'; meta: object; dict: object; zod: z.ZodType } {
  return {
    type: 'object',
    zod: schema,
    meta: { default: {} },
    dict: Object.fromEntries(fields.map((field) => [field, { meta: { volatile: true } }])),
    '~standard': {
      version: 1,
      vendor: 'schemastery',
      validate(value: unknown) {
        const parsed = schema.safeParse(value)
        if (!parsed.success) return { issues: parsed.error.issues }
        const output: Record<string, unknown> = { ...(parsed.data as object) }
        for (const field of fields) output[field] = createVolatile(output[field])
        return { value: output }
      },
    },
  }
}

/** Names the row whose activation this call belongs to: that of the fiber, or the one that called through others. */
export function activatingRow(ctx: Context): string | undefined {
  const entry = activation.getStore()
  if ((entry?.fiber?.state as number | undefined) === STATE.LOADING) return entry!.id
  for (let fiber = ctx.fiber; ; fiber = fiber.parent.fiber) {
    if ((fiber.state as number) === STATE.LOADING && fiber.entry) return fiber.entry.id
    if (fiber.parent.fiber === fiber) return undefined
  }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
