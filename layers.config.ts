/**
 * What each room of `server/` may import beside itself: the one table behind the layer rule and docs/architecture.md.
 * An entry is a room or a path inside one; test files are free.
 */
export const rooms: Record<string, readonly string[]> = {
  wire: [],
  projection: ['wire'],
  redact: ['wire'],
  scope: ['wire'],
  log: ['wire', 'projection', 'scope'],
  prompt: ['wire', 'scope'],
  model: ['wire'],
  tool: ['wire', 'scope'],
  sandbox: ['wire'],
  permission: ['wire', 'scope', 'tool', 'sandbox/mounts', 'files/place'],
  terminal: ['wire', 'tool', 'sandbox/confined', 'sandbox/mounts'],
  files: ['wire', 'tool', 'terminal/environment', 'terminal/inherit', 'sandbox/confined', 'sandbox/mounts'],
  turn: ['wire', 'projection', 'log', 'prompt', 'model', 'tool', 'scope'],
  agent: ['wire', 'projection', 'log', 'turn', 'scope', 'model', 'prompt', 'tool'],
  preset: ['wire', 'scope'],
  settings: ['wire', 'log', 'model', 'credential', 'workspace/state', 'preset/expression'],
  workspace: ['wire', 'log', 'model/port'],
  credential: ['wire', 'log', 'model/port'],
  session: [
    'wire',
    'projection',
    'log',
    'agent',
    'preset',
    'scope',
    'model',
    'prompt',
    'tool',
    'turn',
    'settings',
    'workspace',
  ],
  http: [
    'wire',
    'projection',
    'session',
    'permission',
    'log',
    'preset',
    'settings',
    'workspace',
    'credential',
    'model',
    'redact',
  ],
}

/** Imports against the table that are allowed where the compiler erases them: a room sees the shape, never the code. */
export const typesOnly: Record<string, readonly string[]> = {
  // The snapshot frame carries the folds' state, whose type is defined by the fold.
  wire: ['projection/session-state'],
}

/** The places that assemble everything: plugin adaptors, the headless commands, and the files directly under `server/` (boot, main, catalog). */
export const assemblers: readonly string[] = ['plugins', 'headless']

/** What the page may know of the server. */
export const pageMayImport: readonly string[] = ['wire', 'projection']

/** Packages that only certain places may import: [name of the package as a pattern, places as a pattern, reason]. */
export const reserved: readonly { name: string; package: string; places: string; why: string }[] = [
  {
    name: 'provider-packages-in-adapters',
    package: '^(node_modules/)?@ai-sdk/',
    places: '^server/model/adapters/',
    why: 'the loop, the log and the retry are ours; a provider library is seen by its adapter alone',
  },
  {
    name: 'kernel-in-composition',
    package: '^(node_modules/)?@deepseek-ai/(cordis|cosmokit)',
    places: '^server/(preset|plugins)/|^server/(boot|catalog)[^/]*\\.ts$',
    why: 'rooms are plain code; only composition knows the plugin kernel',
  },
  {
    name: 'vendor-sdks-in-tests',
    package: '^(node_modules/)?(openai|@anthropic-ai/sdk|@google/genai)/',
    places: '^e2e/|\\.test\\.ts$',
    why: 'the vendors’ own SDKs judge the mock and never ship',
  },
]
