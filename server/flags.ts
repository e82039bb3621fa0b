import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

export const COMMANDS = ['serve', 'login', 'run', 'replay', 'export'] as const
export type Command = (typeof COMMANDS)[number]

export interface Flags {
  host: string
  /** 0 takes any free port. */
  port: number
  /** Absolute path of a unix socket to listen on instead of host and port. */
  socket?: string
  /** Absolute path of the data folder. */
  data: string
  /** Absolute paths of patch files, in order. */
  patch: string[]
  /** Starts and ends with `/`. */
  basePath: string
  /** Authorities that may stand in Host and Origin beside the loopback names. */
  allowHost: string[]
  open: boolean
  dumpConfig: boolean
  auth: boolean
  trustProxy: boolean
}

export type Parsed =
  { kind: 'ok'; command: Command; flags: Flags; rest: string[] } | { kind: 'refused'; message: string }

type Kind = 'text' | 'list' | 'switch'
const KINDS: Readonly<Record<string, Kind>> = {
  host: 'text',
  port: 'text',
  socket: 'text',
  data: 'text',
  patch: 'list',
  'base-path': 'text',
  'allow-host': 'list',
  'no-open': 'switch',
  'dump-config': 'switch',
  'no-auth': 'switch',
  'trust-proxy': 'switch',
}

export const DEFAULT_PORT = 4173

const dataHome = (env: NodeJS.ProcessEnv): string =>
  join(env['XDG_DATA_HOME'] ?? join(env['HOME'] ?? homedir(), '.local', 'share'), 'core-web')

const isOn = (value: string): boolean => !['', '0', 'false', 'no'].includes(value.toLowerCase())

/** `CORE_WEB_BASE_PATH` for `base-path`; a list is separated by commas. */
function fromEnvironment(env: NodeJS.ProcessEnv): Map<string, string[]> {
  const given = new Map<string, string[]>()
  for (const [name, kind] of Object.entries(KINDS)) {
    const value = env[`CORE_WEB_${name.replaceAll('-', '_').toUpperCase()}`]
    if (value === undefined) continue
    if (kind !== 'switch') given.set(name, kind === 'list' ? value.split(',').filter(Boolean) : [value])
    else if (isOn(value)) given.set(name, [])
  }
  return given
}

function fromArguments(args: readonly string[], given: Map<string, string[]>, rest: string[]): string | undefined {
  const own = new Set<string>()
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (!arg.startsWith('--') || arg === '--') {
      rest.push(arg)
      continue
    }
    const [name = '', inline] = arg.slice(2).split(/=(.*)/s)
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
    if (!kind) {
      const known = Object.keys(KINDS).map((flag) => `--${flag}`)
      return `core-web does not know the flag --${name}; it knows ${known.join(' ')}.`
    }
    if (kind === 'switch') {
      if (inline !== undefined && !isOn(inline)) given.delete(name)
      else given.set(name, [])
      continue
    }
    const value = inline ?? args[++index]
    if (value === undefined) return `The flag --${name} needs a value.`
    // A flag on the command line replaces what the environment said; a list flag given twice adds up.
    given.set(name, kind === 'list' && own.has(name) ? [...(given.get(name) ?? []), value] : [value])
    own.add(name)
  }
  return undefined
}

const isCommand = (word: string): word is Command => (COMMANDS as readonly string[]).includes(word)

/** Commands that know the shared flags alone. */
const isOwn = (command: Command): boolean => command === 'serve' || command === 'login'

/** The name or origin as the fence compares it; undefined for anything else, such as a pattern or a file. */
function authority(entry: string): string | undefined {
  if (/^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)(:\d{1,5})?$/i.test(entry)) return entry.toLowerCase()
  const url = URL.canParse(entry) ? new URL(entry) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  // A path or a name and password would be ignored in silence.
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password || url.host.includes('*'))
    return undefined
  return url.origin
}

/** Reads `core-web <command> [flags] [arguments]`; what a command other than `serve` takes for itself is in `rest`. */
export function parseFlags(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Parsed {
  const [first = 'serve', ...others] = args
  const named = isCommand(first)
  if (!named && !first.startsWith('--')) {
    return { kind: 'refused', message: `core-web does not know the command ${first}; it knows ${COMMANDS.join(', ')}.` }
  }
  const command = named ? first : 'serve'
  const given = fromEnvironment(env)
  const rest: string[] = []
  const own = named ? others : args
  const problem = isOwn(command) ? fromArguments(own, given, rest) : fromArguments(takeShared(own, rest), given, rest)
  if (problem) return { kind: 'refused', message: problem }
  if (isOwn(command) && rest.length > 0) {
    return { kind: 'refused', message: `core-web ${command} takes no argument ${JSON.stringify(rest[0])}.` }
  }
  return withValues(command, given, rest, cwd, env)
}

/** For the commands that have flags of their own: the shared flags stay, everything else goes to `rest` in its order. */
function takeShared(args: readonly string[], rest: string[]): string[] {
  const shared: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    const name = arg.slice(2).split('=')[0] ?? ''
    if (!arg.startsWith('--') || !Object.hasOwn(KINDS, name)) {
      rest.push(arg)
      continue
    }
    shared.push(arg)
    if (KINDS[name] !== 'switch' && !arg.includes('=') && index + 1 < args.length) shared.push(args[++index]!)
  }
  return shared
}

// oxlint-disable-next-line max-params -- the pieces of one parse, used once
function withValues(
  command: Command,
  given: Map<string, string[]>,
  rest: string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Parsed {
  const one = (name: string, fallback: string): string => given.get(name)?.[0] ?? fallback
  const port = Number(one('port', String(DEFAULT_PORT)))
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return { kind: 'refused', message: `The port ${JSON.stringify(one('port', ''))} is not a number from 0 to 65535.` }
  }
  const allowHost = (given.get('allow-host') ?? []).map((entry) => ({ entry, known: authority(entry) }))
  const strange = allowHost.find(({ known }) => known === undefined)
  if (strange) {
    const wanted = 'Give a name, a name with a port, or an origin such as https://agents.example.'
    return { kind: 'refused', message: `--allow-host ${JSON.stringify(strange.entry)} names no host. ${wanted}` }
  }
  const socket = given.get('socket')?.[0]
  const base = one('base-path', '/').replace(/^\/*|\/*$/g, '')
  const flags: Flags = {
    host: one('host', '127.0.0.1'),
    port,
    ...(socket !== undefined && { socket: resolve(cwd, socket) }),
    data: resolve(cwd, one('data', dataHome(env))),
    patch: (given.get('patch') ?? []).map((path) => resolve(cwd, path)),
    basePath: base ? `/${base}/` : '/',
    allowHost: allowHost.flatMap(({ known }) => known ?? []),
    open: !given.has('no-open'),
    dumpConfig: given.has('dump-config'),
    auth: !given.has('no-auth'),
    trustProxy: given.has('trust-proxy'),
  }
  return { kind: 'ok', command, flags, rest }
}
