import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { StateStore } from './state.ts'
import { Workspaces } from './workspaces.ts'

let root: string
let workspaces: Workspaces

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'workspaces-')))
  for (const name of ['data', 'home', 'home/project']) mkdirSync(join(root, name))
  workspaces = new Workspaces({
    dataDir: join(root, 'data'),
    state: new StateStore(join(root, 'data')),
    home: join(root, 'home'),
  })
})

test('a folder is known by its real path, once', async () => {
  symlinkSync(join(root, 'home/project'), join(root, 'link'))
  const row = await workspaces.add(join(root, 'link'))
  const again = await workspaces.add('~/project')
  expect(row).toMatchObject({ path: join(root, 'home/project'), name: 'project' })
  expect(again.id).toBe(row.id)
  expect(workspaces.list()).toHaveLength(1)
})

test('the list survives a restart and a removal forgets only the row', async () => {
  const row = await workspaces.add(join(root, 'home/project'))
  const second = new Workspaces({
    dataDir: join(root, 'data'),
    state: new StateStore(join(root, 'data')),
    home: join(root, 'home'),
  })
  expect(second.list()).toEqual([row])
  second.remove(row.id)
  expect(workspaces.list()).toEqual([])
})

test.each([
  ['the root', () => '/'],
  ['the home folder', () => join(root, 'home')],
  ['the data folder', () => join(root, 'data')],
  ['a parent of the data folder', () => root],
])('%s is refused unless confirmed', async (_name, path) => {
  await expect(workspaces.add(path())).rejects.toMatchObject({ code: 'workspace/invalid', details: { confirm: true } })
  await expect(workspaces.add(path(), true)).resolves.toMatchObject({ path: path() })
})

test('home and data folder are known behind links too', async () => {
  symlinkSync(join(root, 'home'), join(root, 'my-home'))
  symlinkSync(join(root, 'data'), join(root, 'my-data'))
  const linked = new Workspaces({
    dataDir: join(root, 'my-data'),
    state: new StateStore(join(root, 'data')),
    home: join(root, 'my-home'),
  })
  for (const path of ['~', join(root, 'data'), root])
    await expect(linked.add(path)).rejects.toMatchObject({ code: 'workspace/invalid', details: { confirm: true } })
  mkdirSync(join(root, 'data/sessions'))
  await expect(linked.add(join(root, 'data/sessions'))).rejects.toMatchObject({ code: 'workspace/invalid' })
  await expect(linked.add('~/project')).resolves.toMatchObject({ name: 'project' })
})

test('what is no folder is refused by name', async () => {
  writeFileSync(join(root, 'file'), '')
  await expect(workspaces.add(join(root, 'file'))).rejects.toMatchObject({ code: 'workspace/invalid' })
  await expect(workspaces.add(join(root, 'gone'))).rejects.toMatchObject({ code: 'workspace/not-found' })
  await expect(workspaces.add('relative/path')).rejects.toMatchObject({ code: 'workspace/invalid' })
  await expect(workspaces.add('/a\0b')).rejects.toMatchObject({ code: 'workspace/invalid' })
})

test('a folder that was deleted stays listed with its problem', async () => {
  await workspaces.add(join(root, 'home/project'))
  rmSync(join(root, 'home/project'), { recursive: true })
  expect(workspaces.list()[0]).toMatchObject({ problem: 'missing' })
})

test('browsing shows folders only, follows links to folders, and names the parent', async () => {
  writeFileSync(join(root, 'home/file.txt'), '')
  mkdirSync(join(root, 'home/.hidden'))
  symlinkSync(join(root, 'data'), join(root, 'home/linked'))
  symlinkSync(join(root, 'nowhere'), join(root, 'home/dangling'))
  const listing = await workspaces.browse()
  expect(listing).toMatchObject({ path: join(root, 'home'), parent: root })
  expect(listing.folders.map(({ name }) => name)).toEqual(['linked', 'project'])
})
