export type Renames = Readonly<Record<string, string>>

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads retired config keys under their new names; where both stand, the new one wins. */
export function withoutRetired(retired: Renames, config: unknown): unknown {
  if (!isMap(config)) return config
  const entries = Object.entries(config)
  const kept = entries.filter(([key]) => !Object.hasOwn(retired, key))
  const old = entries.filter(([key]) => Object.hasOwn(retired, key)).map(([key, value]) => [retired[key]!, value])
  return Object.fromEntries([...old, ...kept]) as unknown
}

/** The retired keys that a config still uses, with the sentence that says what to write instead. */
export const retiredKeys = (retired: Renames, config: unknown): { key: string; message: string }[] =>
  isMap(config)
    ? Object.entries(retired).flatMap(([key, name]) =>
        Object.hasOwn(config, key) ? [{ key, message: `the key ${key} is retired, write ${name}` }] : [],
      )
    : []
