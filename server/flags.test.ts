import { expect, test } from 'vitest'
import { parseFlags } from './flags.ts'

const flagsOf = (args: string[], env: NodeJS.ProcessEnv = { HOME: '/home/me' }) => {
  const parsed = parseFlags(args, env, '/here')
  if (parsed.kind === 'refused') throw new Error(parsed.message)
  return parsed.flags
}
const refusal = (...args: string[]) => {
  const parsed = parseFlags(args, {}, '/here')
  return parsed.kind === 'refused' ? parsed.message : undefined
}

test('without flags the server listens on loopback, with authentication and a folder of the user', () => {
  expect(flagsOf([])).toEqual({
    host: '127.0.0.1',
    port: 4173,
    data: '/home/me/.local/share/core-web',
    patch: [],
    basePath: '/',
    allowHost: [],
    open: true,
    dumpConfig: false,
    auth: true,
    trustProxy: false,
  })
})

test('flags are read in both spellings, lists add up, paths are made absolute', () => {
  const args = [
    'serve',
    '--port=0',
    '--host',
    '::1',
    '--patch',
    'a.yml',
    '--patch=b.yml',
    '--base-path',
    'x/y',
    '--no-auth',
  ]
  expect(flagsOf(args)).toMatchObject({
    port: 0,
    host: '::1',
    patch: ['/here/a.yml', '/here/b.yml'],
    basePath: '/x/y/',
    auth: false,
  })
})

test('the environment is read per flag, and the command line wins', () => {
  const env = {
    CORE_WEB_PORT: '1234',
    CORE_WEB_ALLOW_HOST: 'a.example,b.example',
    CORE_WEB_NO_OPEN: '1',
    CORE_WEB_NO_AUTH: '0',
  }
  expect(flagsOf(['serve'], env)).toMatchObject({
    port: 1234,
    allowHost: ['a.example', 'b.example'],
    open: false,
    auth: true,
  })
  expect(flagsOf(['--port', '5', '--allow-host', 'c.example'], env)).toMatchObject({
    port: 5,
    allowHost: ['c.example'],
  })
})

test('a command keeps its own words and flags in order, the shared flags are taken out', () => {
  const parsed = parseFlags(['run', '--preset', 'minimal', '--data', 'd', 'a prompt'], { HOME: '/' }, '/here')
  expect(parsed).toMatchObject({ kind: 'ok', command: 'run', rest: ['--preset', 'minimal', 'a prompt'] })
  expect(parsed).toMatchObject({ flags: { data: '/here/d' } })
})

test.for([
  [['--prot', '1'], 'core-web does not know the flag --prot; it knows --host'],
  [['--constructor'], 'core-web does not know the flag --constructor'],
  [['dance'], 'core-web does not know the command dance; it knows serve'],
  [['serve', '--port', 'many'], 'The port "many" is not a number from 0 to 65535.'],
  [['serve', '--port'], 'The flag --port needs a value.'],
  [['serve', 'extra'], 'core-web serve takes no argument "extra".'],
] as const)('%s is refused in one sentence', ([args, message]) => {
  const said = refusal(...args)
  expect(said).toContain(message)
  expect(said?.split('\n').length).toBe(1)
})
