import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Json } from '../../wire/json.ts'
import { localFs } from '../fs-local.ts'
import { caller, workspace, type Called } from '../testing.ts'
import { strReplaceEditor } from './editor.ts'
import { CHILD, runAsNobody } from './child.fixture.ts'

let W: string
let space: ReturnType<typeof workspace>
const edit = caller(strReplaceEditor(localFs()))
const at = (name: string): string => join(W, name)
const put = (name: string, content: string | Uint8Array): string => {
  writeFileSync(at(name), content)
  return at(name)
}
const view = (path: string, view_range?: number[]) => edit({ command: 'view', path, ...(view_range && { view_range }) })

beforeEach(() => {
  space = workspace()
  W = space.root
})
afterEach(() => space[Symbol.dispose]())

test('O-25 ED01 create writes exactly the given bytes and names the path', async () => {
  const result = await edit({ command: 'create', path: at('a.txt'), file_text: 'one\ntwo\n' })
  expect(result.code).toBeUndefined()
  expect(result.text).toContain(at('a.txt'))
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\ntwo\n')
  expect(statSync(at('a.txt')).mode & 0o777).toBe(0o666 & ~process.umask())
  expect(readdirSync(W)).toEqual(['a.txt'])
  expect(result.meta).toMatchObject({ kind: 'edit', created: true, added: 2, removed: 0 })
})

test('ED02 create makes the parent directories', async () => {
  expect((await edit({ command: 'create', path: at('x/y/z.txt'), file_text: 'z' })).code).toBeUndefined()
  expect(readFileSync(at('x/y/z.txt'), 'utf8')).toBe('z')
})

test('ED03 create refuses an existing file', async () => {
  const path = put('a.txt', 'old')
  const result = await edit({ command: 'create', path, file_text: 'new' })
  expect(result).toMatchObject({ code: 'FS_EXISTS', text: expect.stringContaining('exists') })
  expect(readFileSync(path, 'utf8')).toBe('old')
})

test('ED03 create refuses a dangling link and does not write through it', async () => {
  symlinkSync(at('nowhere'), at('link'))
  expect((await edit({ command: 'create', path: at('link'), file_text: 'x' })).code).toBe('FS_EXISTS')
  expect(readdirSync(W)).toEqual(['link'])
})

test('ED04 create refuses a directory', async () => {
  mkdirSync(at('d'))
  const result = await edit({ command: 'create', path: at('d'), file_text: 'x' })
  expect(result).toMatchObject({ code: 'FS_EXISTS', text: expect.stringMatching(/directory.*exists/) })
})

test('ED05 create needs file_text', async () => {
  const result = await edit({ command: 'create', path: at('a') })
  expect(result).toMatchObject({
    code: 'TOOL_ARGUMENTS_INVALID',
    text: expect.stringContaining('file_text is required'),
  })
  expect(existsSync(at('a'))).toBe(false)
})

test('ED06 create with empty text makes an empty file', async () => {
  await edit({ command: 'create', path: at('a'), file_text: '' })
  expect(statSync(at('a')).size).toBe(0)
})

test('ED07 create below a regular file is refused', async () => {
  const path = put('a.txt', 'x')
  const result = await edit({ command: 'create', path: `${path}/b/c.txt`, file_text: 'y' })
  expect(result).toMatchObject({ code: 'FS_INVALID_PATH', text: expect.stringContaining('parent is not a directory') })
})

test('ED08 O-09 a relative path is refused with the absolute suggestion', async () => {
  const before = readdirSync('.')
  const result = await edit({ command: 'create', path: 'a.txt', file_text: 'x' })
  expect(result).toMatchObject({ code: 'FS_INVALID_PATH', text: expect.stringMatching(/absolute.*\/a\.txt\?/) })
  expect(existsSync('/a.txt')).toBe(false)
  expect(readdirSync('.')).toEqual(before)
  expect(JSON.stringify(strReplaceEditor(localFs()).spec.parameters)).toContain('Absolute path')
})

test('ED09 a path with .. is normalised', async () => {
  const result = await edit({ command: 'create', path: `${W}/../${W.split('/').at(-1)}/b.txt`, file_text: 'b' })
  expect(result.text).toContain(at('b.txt'))
  expect(readFileSync(at('b.txt'), 'utf8')).toBe('b')
})

test('ED09 behind a link .. means what it means in the shell', async () => {
  mkdirSync(at('real/sub'), { recursive: true })
  symlinkSync(at('real/sub'), at('link'))
  writeFileSync(at('real/here.txt'), 'inside real')
  const result = await view(`${W}/link/../here.txt`)
  expect(result.text).toContain('inside real')
  expect(result.text).toContain(at('real/here.txt'))
})

test('ED10 a path with NUL, of blanks or empty is refused', async () => {
  for (const path of [`${W}/a\0b`, '   ', '', `${W}/\ud800`]) {
    const result = await edit({ command: 'create', path, file_text: 'x' })
    expect(result.code).toBe('FS_INVALID_PATH')
  }
  expect(readdirSync(W)).toEqual([])
})

test('ED11 of many creates of one path at once exactly one succeeds', async () => {
  const other = caller(strReplaceEditor(localFs()))
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      (n % 2 ? edit : other)({ command: 'create', path: at('d/a.txt'), file_text: `writer ${n}` }),
    ),
  )
  const winners = results.flatMap((result, n) => (result.code === undefined ? [n] : []))
  expect(winners).toHaveLength(1)
  expect(readFileSync(at('d/a.txt'), 'utf8')).toBe(`writer ${winners[0]}`)
  expect(readdirSync(at('d'))).toEqual(['a.txt'])
})

test('ED11 two processes creating one path: exactly one succeeds', async () => {
  put('calls', JSON.stringify([{ command: 'create', path: at('a.txt'), file_text: 'x'.repeat(100_000) }]))
  const script = '"$0" "$1" < calls > one & "$0" "$1" < calls > two; wait'
  execFileSync('/bin/sh', ['-c', script, process.execPath, CHILD], { cwd: W })
  const codes = ['one', 'two'].map((name) => (JSON.parse(readFileSync(at(name), 'utf8')) as Called[])[0]?.code)
  expect(codes.sort()).toEqual(['FS_EXISTS', undefined])
})

test('ED12 view of a missing path', async () => {
  expect(await view(at('no'))).toMatchObject({ code: 'FS_NOT_FOUND', text: expect.stringContaining('does not exist') })
})

test('O-25 ED13 view numbers from one, width 6, with the empty last line', async () => {
  const result = await view(put('a.txt', 'one\ntwo\nthree\n'))
  expect(result.text).toBe(`${at('a.txt')} (4 lines)\n     1  one\n     2  two\n     3  three\n     4  `)
})

test('ED14 view of an empty file shows one empty line', async () => {
  expect((await view(put('a', ''))).text).toBe(`${at('a')} (1 line)\n     1  `)
})

test('ED15 view_range shows only its lines, with their true numbers', async () => {
  const path = put('a', 'one\ntwo\nthree')
  expect((await view(path, [2, -1])).text).toBe(`${path} (lines 2-3 of 3)\n     2  two\n     3  three`)
  expect((await view(path, [2, 2])).text).toBe(`${path} (lines 2-2 of 3)\n     2  two`)
})

test.each([
  [[1], /view_range.*has 1/],
  [[0, 1], /view_range\[0\] = 0/],
  [[1.5, 2], /view_range\[0\] = 1\.5/],
  [[1, 99], /view_range\[1\] = 99.*3 lines/],
  [[2, 1], /view_range\[1\] = 1/],
  [[5, -1], /view_range\[0\] = 5.*3 lines/],
  [[1, 2, 3], /has 3/],
])('ED16 view_range %j is refused, naming the element', async (range, message) => {
  const result = await view(put('a', 'one\ntwo\nthree'), range)
  expect(result).toMatchObject({ code: 'TOOL_ARGUMENTS_INVALID', text: expect.stringMatching(message) })
})

test('ED17 view_range on a directory is refused', async () => {
  expect(await view(W, [1, 2])).toMatchObject({
    code: 'TOOL_ARGUMENTS_INVALID',
    text: expect.stringContaining('directory'),
  })
})

test('O-25 ED18 directory view: two levels, no hidden or dependency entries, sorted', async () => {
  for (const name of ['b/c/d', 'node_modules/x', '__pycache__', '.git', 'node_modules_old', 'b/.hid'])
    mkdirSync(at(name), { recursive: true })
  for (const name of ['a.txt', '.env', 'b/two.txt', 'b/c/three.txt', '\u{1F600}', '\uFF21']) put(name, '')
  const rows = (await view(W)).text.split('\n').slice(1)
  expect(rows).toEqual([
    `f\t${W}/a.txt`,
    `d\t${W}/b`,
    `d\t${W}/b/c`,
    `f\t${W}/b/two.txt`,
    `d\t${W}/node_modules_old`,
    `f\t${W}/\uFF21`,
    `f\t${W}/\u{1F600}`,
  ])
})

test('ED18 a huge directory is clipped with the number of entries left out', async () => {
  for (let n = 0; n < 600; n++) put(`some-file-with-a-long-name-${n}`, '')
  const result = await view(W)
  expect(result.text.length).toBeLessThanOrEqual(16_000)
  const shown = result.text.split('\n').length - 2
  expect(result.text).toContain(`[${600 - shown} more entries not shown`)
})

test('ED19 an unreadable child and a dangling link are marked, the listing succeeds', async () => {
  mkdirSync(at('secret'), { mode: 0o000 })
  put('plain', '')
  symlinkSync(at('gone'), at('dangling'))
  const [result] = runAsNobody([{ command: 'view', path: W }], { open: W })
  chmodSync(at('secret'), 0o755)
  expect(result?.code).toBeUndefined()
  expect(result?.text.split('\n').slice(1)).toEqual([
    `?\t${W}/dangling\t(dangling symbolic link)`,
    `f\t${W}/plain`,
    `d\t${W}/secret\t(permission denied)`,
  ])
})

test('ED20 a link to a directory is listed and not entered', async () => {
  symlinkSync('/', at('root'))
  symlinkSync(at('loop'), at('loop'))
  expect((await view(W)).text.split('\n').slice(1)).toEqual([
    `?\t${W}/loop\t(symbolic link, cannot be read)`,
    `d\t${W}/root\t(symbolic link)`,
  ])
})

test('ED21 a large file is clipped at the limit with advice, never inside a surrogate pair', async () => {
  const path = put('big', `${'\u{1F600}'.repeat(20)}\n`.repeat(12_000))
  const result = await view(path)
  expect(result.text.length).toBeLessThanOrEqual(16_000)
  expect(result.text.length).toBeGreaterThan(15_000)
  expect(result.text.isWellFormed()).toBe(true)
  const [, last, next] = /lines 1-(\d+) of 12001 shown; use view_range \[(\d+),/.exec(result.text) ?? []
  expect(Number(next)).toBe(Number(last) + 1)
  expect((await view(path, [Number(next), Number(next)])).code).toBeUndefined()
})

test('ED21 one endless line is clipped inside the line', async () => {
  const result = await view(put('one', `x${'\u{1F600}'.repeat(500_000)}`))
  expect(result.text.length).toBeLessThanOrEqual(16_000)
  expect(result.text.isWellFormed()).toBe(true)
  expect(result.text).toContain('line 1 is too long')
})

test('ED22 a range of a 200 MB file: eleven lines, bounded memory, quick', async () => {
  const path = at('huge')
  execFileSync('/bin/sh', ['-c', `yes 'a line of twenty ch' | head -c 200000000 > "${path}"`])
  const probe = `
    import { strReplaceEditor } from ${JSON.stringify(join(import.meta.dirname, 'editor.ts'))}
    import { localFs } from ${JSON.stringify(join(import.meta.dirname, '../fs-local.ts'))}
    import { contextOf, called } from ${JSON.stringify(join(import.meta.dirname, '../testing.ts'))}
    const tool = strReplaceEditor(localFs())
    const before = process.resourceUsage().maxRSS
    const cpu = process.cpuUsage()
    const result = called(await tool.run({ command: 'view', path: process.argv[1], view_range: [100000, 100010] }, contextOf()))
    const { user, system } = process.cpuUsage(cpu)
    console.log(JSON.stringify({ text: result.text, cpuMs: (user + system) / 1000, grown: process.resourceUsage().maxRSS - before }))`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', probe, path], { encoding: 'utf8' })
  const { text, cpuMs, grown } = JSON.parse(child.stdout) as { text: string; cpuMs: number; grown: number }
  expect(text.split('\n')).toHaveLength(12)
  expect(text).toContain('\n100000  a line of twenty ch\n')
  expect(cpuMs).toBeLessThan(2000)
  expect(grown).toBeLessThan(100 * 1024)
})

test('ED23 TABs are kept, and copied text matches', async () => {
  const path = put('a', 'if x:\n\tgo\t()\n')
  const row = (await view(path, [2, 2])).text.split('\n')[1]?.slice(8)
  expect(row).toBe('\tgo\t()')
  expect((await edit({ command: 'str_replace', path, old_str: row ?? '', new_str: '\tstop()' })).code).toBeUndefined()
  expect(readFileSync(path, 'utf8')).toBe('if x:\n\tstop()\n')
})

test('ED24 a binary file is refused with its size, wherever its NUL is', async () => {
  const png = put('a.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  const late = put('late', Buffer.concat([Buffer.alloc(3_000_000, 'a'), Buffer.from([0]), Buffer.alloc(50, 'b')]))
  expect(await view(png)).toMatchObject({
    code: 'FS_NOT_TEXT',
    text: expect.stringMatching(/binary file \(16 bytes\)/),
  })
  expect(await view(late)).toMatchObject({
    code: 'FS_NOT_TEXT',
    text: expect.stringMatching(/binary file \(3,000,051 bytes\)/),
  })
})

test('ED25 B54 other encodings are refused with a guess and a hint for the shell', async () => {
  const latin = await view(put('latin', Buffer.from('caf\xe9 au lait\n', 'latin1')))
  expect(latin).toMatchObject({
    code: 'FS_NOT_TEXT',
    text: expect.stringMatching(/ISO-8859-1.*0xe9 at offset 3.*iconv/),
  })
  const gbk = await view(put('gbk', Buffer.from('d6d0cec4b1e0c2eb0a', 'hex')))
  expect(gbk.text).toMatch(/GB18030/)
  const utf16 = await view(put('utf16', Buffer.from('\ufeffhello', 'utf16le')))
  expect(utf16.text).toMatch(/UTF-16LE.*iconv/)
  const cut = await view(put('cut', Buffer.from('ok \u20ac').subarray(0, 5)))
  expect(cut).toMatchObject({ code: 'FS_NOT_TEXT', text: expect.stringContaining('offset 3') })
})

test('ED26 B54 a byte-order mark is not shown but noted', async () => {
  const result = await view(put('bom', '\ufeffone\ntwo'))
  expect(result.text).toBe(`${at('bom')} (2 lines, a UTF-8 byte-order mark (BOM) is present)\n     1  one\n     2  two`)
})

test('ED27 a pipe, a device and a socket are refused at once', async () => {
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', at('fifo')])
  const server = createServer()
  await new Promise<void>((done) => server.listen(at('socket'), done))
  for (const path of [at('fifo'), '/dev/zero', at('socket')]) {
    const result = await view(path)
    expect(result).toMatchObject({ code: 'FS_NOT_REGULAR_FILE', text: expect.stringContaining('not a regular file') })
    expect((await edit({ command: 'str_replace', path, old_str: 'a' })).code).toBe('FS_NOT_REGULAR_FILE')
  }
  await new Promise((done) => server.close(done))
})

test('ED55 unknown command, missing command and extra keys are schema errors without effect', async () => {
  const path = at('a')
  const calls: Json[] = [
    { command: 'delete', path },
    { path },
    { command: 'create', path, file_text: 'x', mode: 'force' },
    { command: 'undo_edit', path },
    { command: 'view' },
    { command: 'view', path: 1 },
    { command: 'view', path, view_range: '1-2' },
    'view',
    null,
  ]
  for (const args of calls) expect((await edit(args)).code).toBe('TOOL_ARGUMENTS_INVALID')
  expect(readdirSync(W)).toEqual([])
})

test('ED56 a file path with a trailing slash is refused', async () => {
  put('a.txt', 'x')
  expect((await view(`${W}/a.txt/`)).code).toBe('FS_INVALID_PATH')
  expect((await edit({ command: 'create', path: `${W}/new.txt/`, file_text: 'x' })).code).toBe('FS_INVALID_PATH')
  expect(readdirSync(W)).toEqual(['a.txt'])
})

test('ED57 too long paths and names are refused cleanly', async () => {
  for (const path of [`${W}/${'d/'.repeat(2500)}f`, `${W}/${'n'.repeat(300)}`, `${W}/new/${'n'.repeat(300)}/f`]) {
    const result = await edit({ command: 'create', path, file_text: 'x' })
    expect(result).toMatchObject({ code: 'FS_INVALID_PATH', text: expect.stringContaining('too long') })
    expect(result.text.length).toBeLessThan(300)
  }
  expect(readdirSync(W)).toEqual([])
})

test('ED66 a created file reads the same by cat', async () => {
  const file_text = 'tab\t\u00e9\u{1F600}\r\nend without newline'
  await edit({ command: 'create', path: at('a'), file_text })
  expect(execFileSync('cat', [at('a')], { encoding: 'utf8' })).toBe(file_text)
  expect((await view(at('a'))).text).toContain('     2  end without newline')
})
