/** Names a person's shell may keep; anything else (keys, agent sockets, our own npm run) stays in the host. */
const KEPT = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TERM', 'TMPDIR'])
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The environment of a child that runs a person's or a model's commands: shells, MCP servers, hooks.
 * An allow-list, because no deny pattern names every variable that holds a secret. Under npm the front of PATH is our own
 * `node_modules/.bin`; a command must find the person's tools instead.
 */
export function shellEnvironment(
  base: Record<string, string | undefined> = process.env,
  extraNames: string[] = [],
): Record<string, string> {
  const extra = new Set(extraNames)
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined) continue
    if (KEPT.has(name) || name.startsWith('LC_') || extra.has(name)) result[name] = value
  }
  result.PATH = cleanPath(result.PATH ?? DEFAULT_PATH)
  return result
}

function cleanPath(path: string): string {
  const kept = path.split(':').filter((entry) => entry !== '' && !isPackageBin(entry))
  return kept.length > 0 ? kept.join(':') : DEFAULT_PATH
}

/** npm also puts a folder of its own (`@npmcli/run-script/lib/node-gyp-bin`) in front. */
const isPackageBin = (entry: string) => /(^|\/)node_modules\/\.bin\/?$/.test(entry) || /\/node-gyp-bin\/?$/.test(entry)
