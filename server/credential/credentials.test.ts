import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Credentials } from './credentials.ts'

let dir: string
let path: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'credentials-'))
  path = join(dir, 'data', 'credentials.json')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

test('a key is stored for its owner only, read at call time and removed again', async () => {
  const credentials = new Credentials({ path })
  expect(credentials.has('openai')).toBe(false)
  expect(await credentials.get('openai')).toBeUndefined()
  await credentials.set('openai', 'sk-one')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(dir, 'data'))).toEqual(['credentials.json'])
  expect(credentials.has('openai')).toBe(true)
  await new Credentials({ path }).set('openai', 'sk-two')
  expect(await credentials.get('openai')).toBe('sk-two')
  await credentials.remove('openai')
  expect(await credentials.get('openai')).toBeUndefined()
})

test('keys saved at the same moment are all kept', async () => {
  const credentials = new Credentials({ path })
  await Promise.all(['a', 'b', 'c', 'd'].map((id) => credentials.set(id, `key-${id}`)))
  expect(Object.keys(JSON.parse(await readFile(path, 'utf8')) as object).sort()).toEqual(['a', 'b', 'c', 'd'])
  expect(credentials.secrets().sort()).toEqual(['key-a', 'key-b', 'key-c', 'key-d'])
})

test('an environment reference reads the values of the start, and never what the code set later', async () => {
  const env: { [name: string]: string | undefined } = { MY_KEY: 'from-env', PATH: '/bin' }
  const credentials = new Credentials({ path, env })
  env.MY_KEY = 'changed'
  expect(credentials.secrets()).toEqual([])
  expect(await credentials.get('env:MY_KEY')).toBe('from-env')
  expect(credentials.has('env:OPENAI_API_KEY')).toBe(false)
  expect(credentials.secrets()).toEqual(['from-env'])
  await expect(credentials.set('env:MY_KEY', 'x')).rejects.toMatchObject({ code: 'credential/invalid' })
})

test('a value that no header can carry is refused and nothing is written', async () => {
  const credentials = new Credentials({ path })
  for (const value of ['', 'two words', 'line\nend', 'schlüssel', 'tab\t'])
    await expect(credentials.set('openai', value)).rejects.toMatchObject({ code: 'credential/invalid' })
  await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a damaged file is reported by name, never overwritten, its text never shown', async () => {
  const credentials = new Credentials({ path })
  await credentials.set('a', 'key-a')
  await writeFile(path, '{"a": "secret-half')
  await expect(credentials.set('b', 'key-b')).rejects.toMatchObject({
    code: 'credential/invalid',
    message: expect.not.stringContaining('secret-half'),
  })
  expect(await readFile(path, 'utf8')).toBe('{"a": "secret-half')
  expect(() => credentials.has('a')).toThrow(/credentials\.json is damaged/)
})

test('names of built-in object members are no stored keys', async () => {
  const credentials = new Credentials({ path })
  expect(credentials.has('constructor')).toBe(false)
  expect(await credentials.get('__proto__')).toBeUndefined()
})
