import { z } from 'zod'
import { isExpression } from './expression.ts'
import { retiredKeys, withoutRetired } from './retired.ts'
import { nearest } from './rows.ts'
import type { Path } from './check-yaml.ts'
import type { RowPlugin } from './kernel.ts'

/** A finding inside a config, by its path from there. */
export interface Finding {
  severity: 'error' | 'warning'
  message: string
  path: Path
  /** The finding is about the key itself, not about its value. */
  what?: 'key'
}

interface Issue {
  message: string
  code?: string
  keys?: string[]
  path?: readonly (PropertyKey | { key: PropertyKey })[]
}

/** What an editor needs of a schema, whatever the schema can do beyond JSON Schema. */
export const jsonSchemaOf = (schema: z.ZodType): unknown => {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest
}

/**
 * What a plugin's own schema says to a config. Expressions are unknown until they run: nothing is said about them. Retired
 * keys are warnings and read under their new names, as the plugin does.
 */
export async function configFindings(plugin: Partial<RowPlugin>, config: unknown): Promise<Finding[]> {
  const renames = plugin.retired ?? {}
  const retired = retiredKeys(renames, config).map(({ key, message }): Finding => ({
    severity: 'warning',
    message,
    path: [key],
    what: 'key',
  }))
  const renamed = withoutRetired(renames, config ?? {})
  const issues = plugin.schema ? zodIssues(plugin.schema, renamed) : await standardIssues(plugin.Config, renamed)
  const found = issues.flatMap((issue) => findingsOf(issue, renamed, plugin.schema))
  return [...retired, ...found]
}

function zodIssues(schema: z.ZodType, config: unknown): Issue[] {
  const parsed = schema.safeParse(config)
  return parsed.success ? [] : parsed.error.issues
}

/** The schema of a plugin from elsewhere, when it follows the common interface. */
async function standardIssues(schema: unknown, config: unknown): Promise<Issue[]> {
  const standard = (schema as { '~standard'?: { validate?(value: unknown): unknown } } | undefined)?.['~standard']
  if (typeof standard?.validate !== 'function') return []
  const { issues } = (await standard.validate(config)) as { issues?: Issue[] }
  return issues ?? []
}

const stepsOf = ({ path = [] }: Issue): (string | number)[] =>
  path.map((step) => (typeof step === 'object' ? step.key : step)).map((step) => (typeof step === 'symbol' ? '' : step))

function findingsOf(issue: Issue, config: unknown, schema: z.ZodType | undefined): Finding[] {
  const path = stepsOf(issue)
  if (meetsExpression(config, path)) return []
  if (issue.code !== 'unrecognized_keys') {
    const name = path.join('.')
    return [{ severity: 'error', message: name ? `${name}: ${issue.message}` : issue.message, path }]
  }
  return (issue.keys ?? []).map((key) => {
    const near = nearest(key, propertiesAt(schema, path))
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`
    return { severity: 'error', message: `unknown key ${key}${hint}`, path: [...path, key], what: 'key' }
  })
}

/** An expression stands at the path, or around it. */
function meetsExpression(config: unknown, path: Path): boolean {
  let value = config
  if (isExpression(value)) return true
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return false
    value = (value as Record<string, unknown>)[step]
    if (isExpression(value)) return true
  }
  return false
}

interface Shape {
  properties?: Record<string, Shape>
  items?: Shape
}

function propertiesAt(schema: z.ZodType | undefined, path: Path): string[] {
  let shape = schema && (jsonSchemaOf(schema) as Shape | undefined)
  for (const step of path) shape = typeof step === 'number' ? shape?.items : shape?.properties?.[step]
  return Object.keys(shape?.properties ?? {})
}
