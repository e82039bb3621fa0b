type Env = Record<string, string | undefined>

export function split(env: Env): { open: Record<string, string>; held: Record<string, string> }
export function takeSecrets(): void
export function environment(): NodeJS.ProcessEnv
