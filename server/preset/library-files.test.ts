import { chmod, mkdir, mkdtemp, readFile, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sha256 } from './kernel.ts'
import { NEW_ID, exists, replaceFile, requireInside, stemOf, textOf } from './library-files.ts'
import { History } from './library-history.ts'

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'core-web-files-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Files of a folder that this process has open; where the system does not tell, none. */
async function openIn(folder: string): Promise<string[]> {
  const handles = await readdir('/proc/self/fd').catch(() => [])
  const paths = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
  return paths.filter((path) => path.startsWith(folder))
}

test.each([
  ['a', true],
  ['0', true],
  ['a-b-1', true],
  ['a'.repeat(64), true],
  ['a'.repeat(65), false],
  ['', false],
  ['-a', false],
  ['A', false],
  ['aB', false],
  ['a_b', false],
  ['a.b', false],
  ['a\n', false],
  ['../a', false],
])('the id %j names a file: %s', (id, allowed) => {
  expect(NEW_ID.test(id)).toBe(allowed)
})

test.each([
  ['/x/a.yml', 'a'],
  ['/x/a.b.yaml', 'a.b'],
  ['a', 'a'],
])('the stem of %s is %s', (file, stem) => {
  expect(stemOf(file)).toBe(stem)
})

describe('replacing a file', () => {
  test('a new one is its owner’s only, one that is there keeps its mode, and nothing stays open', async () => {
    const folder = await folderOf()
    const file = join(folder, 'deep/er/a.yml')
    await replaceFile(file, 'one')
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777
    expect([await modeOf(file), await modeOf(join(folder, 'deep/er'))]).toEqual([0o600, 0o700])
    await chmod(file, 0o640)
    await replaceFile(file, 'two')
    expect([await modeOf(file), await readFile(file, 'utf8')]).toEqual([0o640, 'two'])
    expect(await readdir(join(folder, 'deep/er'))).toEqual(['a.yml'])
    expect(await openIn(folder)).toEqual([])
  })

  test.skipIf(process.platform !== 'linux')('what cannot even be begun says why', async () => {
    await expect(replaceFile('/proc/none.yml', 'x')).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' })
  })
})

test('a text that is not there is undefined; one that cannot be read is an error', async () => {
  const folder = await folderOf()
  await writeFile(join(folder, 'a.yml'), 'text')
  expect([await textOf(join(folder, 'a.yml')), await textOf(join(folder, 'b.yml'))]).toEqual(['text', undefined])
  await expect(textOf(folder)).rejects.toMatchObject({ code: 'EISDIR' })
  expect([await exists(folder), await exists(join(folder, 'b.yml'))]).toEqual([true, false])
})

test('a link out of the folder is named with what to do', async () => {
  const folder = await folderOf()
  const [home, away] = [join(folder, 'home'), join(folder, 'home-of-others')]
  for (const path of [home, away]) await mkdir(path)
  await writeFile(join(away, 'a.yml'), 'x')
  await writeFile(join(home, 'b.yml'), 'x')
  await symlink(join(away, 'a.yml'), join(home, 'a.yml'))
  await symlink(join(home, 'b.yml'), join(home, 'c.yml'))
  for (const name of ['b.yml', 'c.yml']) expect(await requireInside(home, join(home, name))).toBeUndefined()
  const file = join(home, 'a.yml')
  await expect(requireInside(home, file)).rejects.toMatchObject({
    code: 'agent-preset/not-own',
    message: `${file} is a link to a place outside ${home}. Edit the file it points to, or put a copy in its place.`,
  })
})

describe('earlier texts', () => {
  const nameOf = (time: number, text: string): string =>
    `${String(time).padStart(13, '0')}-${sha256(text).slice(0, 16)}`
  const versionsOf = async (history: History) => (await history.list('a')).map(({ version }) => version)

  test('are named by time and digest, and come in the order they were kept, whatever the clock does', async () => {
    let clock = 5
    const history = new History(await folderOf(), () => clock)
    await history.keep('a', 'one')
    await history.keep('a', 'one')
    await history.keep('a', 'two')
    clock = 3
    await history.keep('a', 'three')
    clock = 1_700_000_000_000
    await history.keep('a', 'one')
    const expected = [nameOf(clock, 'one'), nameOf(7, 'three'), nameOf(6, 'two'), nameOf(5, 'one')]
    expect(await versionsOf(history)).toEqual(expected)
    expect((await history.list('a', 'one')).map(({ version }) => version)).toEqual(expected.slice(1, 3))
    expect((await history.list('a'))[2]).toEqual({ version: nameOf(6, 'two'), savedAt: 6, bytes: 3 })
    expect(await history.list('b')).toEqual([])
    expect(await history.text('a', nameOf(7, 'three'))).toBe('three')
    for (const name of [nameOf(8, 'three'), `x${nameOf(7, 'three')}`, `${nameOf(7, 'three')}x`, ''])
      expect(await history.text('a', name)).toBeUndefined()
  })

  test('are not what else lies in their folder', async () => {
    const folder = await folderOf()
    const history = new History(folder, () => 5)
    await history.keep('a', 'one')
    for (const name of ['notes.txt', '0000000000001.yml-0123456789abcdef', `${nameOf(1, 'x')}.yml.bak`, 'own.yml'])
      await writeFile(join(folder, 'a', name), 'x')
    expect(await versionsOf(history)).toEqual([nameOf(5, 'one')])
  })

  test('the newest stays however large it is, and all of them while they fit', async () => {
    let clock = 0
    const history = new History(await folderOf(), () => ++clock)
    const half = 'x'.repeat(2.5 * 1024 * 1024)
    await history.keep('a', half)
    await history.keep('a', half.replace('x', 'y'))
    expect(await versionsOf(history)).toHaveLength(2)
    await history.keep('a', 'z')
    expect((await history.list('a')).map(({ bytes }) => bytes)).toEqual([1, half.length])
    await history.keep('a', half + half + half)
    expect((await history.list('a')).map(({ bytes }) => bytes)).toEqual([3 * half.length])
  })
})
