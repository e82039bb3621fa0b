// Plain JavaScript, like start.mjs: it runs before anything else of the server, twice in some starts.
import { existsSync, readFileSync, closeSync } from 'node:fs'

const COUNT = 'CORE_WEB_HANDOVER'
/** File descriptors that carry the values over: one digit each, the first that Node does not use itself. */
const FIRST_FD = 4
const LAST_FD = 9
/** A shell writes a here-document of up to 4096 bytes into the pipe by itself; for a longer one it may leave a process behind. */
const CHUNK = 3900

/** Names that may stay in the environment of the process, where every process of this user reads them. */
const HARMLESS = new Set(
  (
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR PWD OLDPWD SHLVL _ HOSTNAME COLORTERM EDITOR VISUAL PAGER ' +
    'LS_COLORS INIT_CWD DISPLAY WAYLAND_DISPLAY DESKTOP_SESSION CI NO_COLOR FORCE_COLOR COLUMNS LINES MAIL ' +
    'SSL_CERT_FILE SSL_CERT_DIR OPENSSL_CONF LD_LIBRARY_PATH LD_PRELOAD MALLOC_ARENA_MAX DEBIAN_FRONTEND INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID'
  ).split(' '),
)
const FAMILIES = /^(LC_|XDG_|NODE_|CORE_WEB_|UV_)/
const PROXIES = /^(https?|all|no)_proxy$/i
const SECRET_WORDS = /token|secret|key|pass|auth|credential/i

/** @param {string} name @param {string} value */
function isHarmless(name, value) {
  if (name === COUNT || HARMLESS.has(name)) return true
  if (PROXIES.test(name)) return !value.includes('@')
  return FAMILIES.test(name) && !SECRET_WORDS.test(name)
}

/** Values that are kept in memory alone, by the name of their variable. */
let held = {}

/** The environment as it was given: what the process shows, and what it keeps to itself. */
export const environment = () => ({ ...process.env, ...held })

/** What the environment says and what must not stay readable in `/proc/<pid>/environ`. */
export function split(env) {
  const open = {}
  const held = {}
  for (const [name, value] of Object.entries(env)) {
    // What npm tells its scripts is of no use here, and its settings may hold the token of a registry.
    if (value === undefined || /^npm_/i.test(name)) continue
    if (isHarmless(name, value)) open[name] = value
    else held[name] = value
  }
  return { open, held }
}

/**
 * Moves everything but harmless variables out of this process's environment; `environment()` still has it. Deleting a variable does not
 * take it out of `/proc/<pid>/environ`, so the process is replaced by itself, under the same pid: a shell passes the values on
 * by pipes that only the new image reads. Signals, exit code and parent stay what they were.
 */
export function takeSecrets() {
  const passed = received()
  if (passed !== undefined) return settle(passed)
  const { open, held: secret } = split(process.env)
  const npmSecret = Object.keys(process.env).some((name) => /^npm_/i.test(name) && SECRET_WORDS.test(name))
  const canReplace = process.platform !== 'win32' && typeof process.execve === 'function' && existsSync('/bin/sh')
  if (canReplace && (npmSecret || Object.keys(secret).length > 0)) replace(open, secret)
  // Elsewhere they are at least not inherited by child processes.
  return settle(secret)
}

function settle(secret) {
  for (const name of Object.keys(process.env))
    if (name === COUNT || Object.hasOwn(secret, name) || /^npm_/i.test(name)) delete process.env[name]
  // The HTTP client reads its proxies there; a later change of the environment does not reach /proc.
  for (const [name, value] of Object.entries(secret)) if (PROXIES.test(name)) process.env[name] = value
  held = secret
}

function replace(open, secret) {
  const text = Buffer.from(JSON.stringify(secret)).toString('base64')
  const size = Math.max(CHUNK, Math.ceil(text.length / (LAST_FD - FIRST_FD + 1)))
  const chunks = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? ['']
  const env = { ...open, [COUNT]: String(chunks.length) }
  const names = chunks.map((_, index) => `core_web_${index}`)
  chunks.forEach((chunk, index) => (env[names[index].toUpperCase()] = chunk))
  const script = [
    ...names.map((name) => `${name}=$${name.toUpperCase()}; unset ${name.toUpperCase()}`),
    `exec "$@" ${names.map((_, index) => `${FIRST_FD + index}<<E${index}`).join(' ')}`,
    ...names.map((name, index) => `$${name}\nE${index}`),
    '',
  ].join('\n')
  process.execve(
    '/bin/sh',
    ['sh', '-c', script, 'sh', process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    env,
  )
}

function received() {
  const count = Number(process.env[COUNT])
  if (!Number.isInteger(count) || count < 1 || count > LAST_FD - FIRST_FD + 1) return undefined
  try {
    let text = ''
    for (let fd = FIRST_FD; fd < FIRST_FD + count; fd++) {
      text += readFileSync(fd, 'utf8').trim()
      closeSync(fd)
    }
    return JSON.parse(Buffer.from(text, 'base64').toString('utf8'))
  } catch {
    return undefined // the variable was set by somebody else
  }
}
