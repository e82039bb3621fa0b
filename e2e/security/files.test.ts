import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  readdirSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ask } from '../ask.ts'
import { ROOT, startHost, type TestHost } from '../host.ts'

let folder: string
let web: string
let host: TestHost | undefined
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-files-')))
  web = join(folder, 'root/dist/web')
  mkdirSync(join(web, 'assets'), { recursive: true })
  for (const name of ['core-web.cordis.yml', 'presets'])
    cpSync(join(ROOT, name), join(folder, 'root', name), { recursive: true })
  writeFileSync(join(web, 'index.html'), '<html></html>')
  for (const name of ['a.js', 'b.js', 'c.js']) writeFileSync(join(web, 'assets', name), 'own')
  mkdirSync(join(folder, 'outside'))
  for (const name of ['a.js', 'secret']) writeFileSync(join(folder, 'outside', name), 'SECRET')
})
afterEach(async () => {
  await host?.remove()
  host = undefined
  rmSync(folder, { recursive: true, force: true })
})

const get = async (path: string) => {
  const { status, body } = await ask(host!.base, path)
  return [status, body.toString()]
}

test('HS-13 a served file or a folder above it that becomes a link is not followed, and new files are not served', async () => {
  host = await startHost({ rootDir: join(folder, 'root') })
  expect(await get('/assets/a.js')).toEqual([200, 'own'])
  rmSync(join(web, 'assets/b.js'))
  symlinkSync(join(folder, 'outside/secret'), join(web, 'assets/b.js'))
  expect((await get('/assets/b.js'))[1]).not.toContain('SECRET')
  writeFileSync(join(web, 'assets/later.js'), 'SECRET')
  expect((await get('/assets/later.js'))[1]).not.toContain('SECRET')
  // Inside the folder a link is no better: the list names files.
  symlinkSync(join(web, 'assets/a.js'), join(web, 'assets/inside.js'))
  expect((await get('/assets/inside.js'))[0]).toBe(404)
  renameSync(join(web, 'assets'), join(web, 'moved'))
  symlinkSync(join(folder, 'outside'), join(web, 'assets'))
  expect((await get('/assets/a.js'))[1]).not.toContain('SECRET')
  expect((await get('/moved/a.js'))[1]).not.toContain('own')
})

test('HS-13 while files are exchanged for links over and over, no answer ever holds what the link leads to', async () => {
  host = await startHost({ rootDir: join(folder, 'root') })
  const served = join(web, 'assets/c.js')
  const answers = new Set<string>()
  for (let round = 0; round < 100; round++) {
    const asked = Promise.all([get('/assets/c.js'), get('/assets/c.js')])
    rmSync(served, { force: true })
    if (round % 2 === 0) symlinkSync(join(folder, 'outside/secret'), served)
    else writeFileSync(served, 'own')
    for (const [, body] of await asked) answers.add(String(body))
  }
  expect([...answers].filter((body) => body.includes('SECRET'))).toEqual([])
})

test.runIf(process.platform !== 'win32')(
  'HS-04 the data folder is closed to others, also one that was open before',
  async () => {
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir)
    chmodSync(dataDir, 0o755)
    host = await startHost({ rootDir: join(folder, 'root'), dataDir })
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    const open = readdirSync(dataDir).filter(
      (name) => name.match(/^(token|server\.json|credentials)/) && (statSync(join(dataDir, name)).mode & 0o077) !== 0,
    )
    expect(open).toEqual([])
  },
)
