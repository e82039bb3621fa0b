import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { editTool } from './edit.ts'
import { hostFs } from './fs-host.ts'
import { localFs } from './fs-local.ts'
import { readTool } from './read.ts'
import { caller, contextOf, workspace } from './testing.ts'
import { writeTool } from './write.ts'

let W: string
let space: ReturnType<typeof workspace>
const at = (name: string): string => join(W, name)
const put = (name: string, content: string | Uint8Array): string => {
  writeFileSync(at(name), content)
  return at(name)
}
const disk = (name: string): string => readFileSync(at(name), 'utf8')

/** The three tools of one session on shared host files. */
function session(id = 's1', host = hostFs()) {
  const options = { session: id, cwd: W }
  return {
    host,
    read: caller(readTool(host.fs), options),
    write: caller(writeTool(host.fs), options),
    edit: caller(editTool(host.fs), options),
  }
}

beforeEach(() => {
  space = workspace()
  W = space.root
})
afterEach(() => space[Symbol.dispose]())

test('read takes relative and absolute paths and numbers the lines', async () => {
  const { read } = session()
  put('a.txt', 'one\ntwo\n')
  const relative = await read({ file_path: 'a.txt' })
  expect(relative.text).toBe('     1  one\n     2  two')
  expect(relative.meta).toEqual({ kind: 'read', path: at('a.txt'), from: 1, to: 2, more: false })
  expect((await read({ file_path: at('a.txt') })).text).toBe(relative.text)
  symlinkSync('a.txt', at('link'))
  expect((await read({ file_path: './absent/../link' })).text).toBe(relative.text)
})

test('read pages with offset and limit, at most 2000 lines at once', async () => {
  const { read } = session()
  put('long', Array.from({ length: 4100 }, (_, n) => `l${n + 1}`).join('\n'))
  const first = await read({ file_path: 'long', limit: 9999 })
  expect(first.text.split('\n')).toHaveLength(2001)
  expect(first.text).toMatch(/\n\[lines 1-2000 shown; more follow, continue with offset 2001\]$/)
  const last = await read({ file_path: 'long', offset: 4099, limit: 2 })
  expect(last.text).toBe('  4099  l4099\n  4100  l4100')
  expect(await read({ file_path: 'long', offset: 4101 })).toMatchObject({
    code: 'TOOL_ARGUMENTS_INVALID',
    text: expect.stringContaining('4100 lines'),
  })
  for (const offset of [0, -1, 1.5])
    expect((await read({ file_path: 'long', offset })).code).toBe('TOOL_ARGUMENTS_INVALID')
})

test('read cuts lines at 2000 characters and pages at 50 KiB, never inside a character', async () => {
  const { read } = session()
  put('wide', `x${'\u{1F600}'.repeat(3000)}\n`.repeat(40))
  const page = await read({ file_path: 'wide' })
  expect(Buffer.byteLength(page.text)).toBeLessThan(51 * 1024)
  expect(page.text.isWellFormed()).toBe(true)
  const rows = page.text.split('\n')
  expect(rows[0]).toHaveLength(8 + 1999 + ' [line cut]'.length)
  const next = /offset (\d+)\]$/.exec(page.text)?.[1]
  expect(Number(next)).toBe(rows.length)
})

test('read of empty, missing, directory, binary', async () => {
  const { read } = session()
  put('empty', '')
  put('bin', Buffer.from([1, 0, 2]))
  expect((await read({ file_path: 'empty' })).text).toContain('is empty')
  expect((await read({ file_path: 'none' })).code).toBe('FS_NOT_FOUND')
  expect((await read({ file_path: '.' })).code).toBe('FS_NOT_REGULAR_FILE')
  expect((await read({ file_path: 'bin' })).code).toBe('FS_NOT_TEXT')
})

test('write creates with parents, and an unseen file is create only', async () => {
  const { write } = session()
  put('theirs', 'old')
  expect(await write({ file_path: 'd/new.txt', content: 'x\n' })).toMatchObject({
    text: `Created ${at('d/new.txt')}.`,
    meta: { kind: 'edit', created: true, added: 1 },
  })
  expect(disk('d/new.txt')).toBe('x\n')
  expect(await write({ file_path: 'theirs', content: 'new' })).toMatchObject({
    code: 'FS_EXISTS',
    text: expect.stringContaining('Read it first'),
  })
  expect(disk('theirs')).toBe('old')
})

test('write replaces what was read, keeping the byte-order mark and the mode', async () => {
  const { read, write } = session()
  writeFileSync(at('a'), '\ufeffone\n', { mode: 0o600 })
  await read({ file_path: 'a' })
  const result = await write({ file_path: 'a', content: 'two\n' })
  expect(result).toMatchObject({ text: `Replaced the content of ${at('a')}.`, meta: { added: 1, removed: 1 } })
  expect(disk('a')).toBe('\ufefftwo\n')
  expect(statSync(at('a')).mode & 0o777).toBe(0o600)
  expect((await write({ file_path: 'a', content: '\ufeffthree\n' })).code).toBeUndefined()
  expect(disk('a')).toBe('\ufeffthree\n')
})

test('write and edit after a change from outside are stale until read again', async () => {
  const { read, write, edit } = session()
  put('a', 'one')
  await read({ file_path: 'a' })
  put('a', 'their longer text')
  expect((await write({ file_path: 'a', content: 'x' })).code).toBe('FS_STALE_VERSION')
  expect((await edit({ file_path: 'a', old_string: 'their', new_string: 'our' })).code).toBe('FS_STALE_VERSION')
  expect(disk('a')).toBe('their longer text')
  await read({ file_path: 'a' })
  expect((await edit({ file_path: 'a', old_string: 'their', new_string: 'our' })).code).toBeUndefined()
  expect(disk('a')).toBe('our longer text')
})

test('a file seen absent that appears meanwhile is stale for write', async () => {
  const { read, write } = session()
  await read({ file_path: 'a' })
  put('a', 'theirs')
  expect((await write({ file_path: 'a', content: 'ours' })).code).toBe('FS_STALE_VERSION')
  expect(disk('a')).toBe('theirs')
})

test('edit of an unseen file is refused; what another session saw does not count', async () => {
  const host = hostFs()
  const [one, two] = [session('one', host), session('two', host)]
  put('a', 'text')
  await one.read({ file_path: 'a' })
  const args = { file_path: 'a', old_string: 'text', new_string: 'TEXT' }
  expect((await two.edit(args)).code).toBe('FS_NOT_OBSERVED')
  expect((await one.edit(args)).code).toBeUndefined()
  host.observation.forget('one')
  expect((await one.edit({ ...args, old_string: 'TEXT', new_string: 'x' })).code).toBe('FS_NOT_OBSERVED')
})

test('a refused edit does not count as having seen the file', async () => {
  const { edit } = session()
  put('a', 'text')
  const args = { file_path: 'a', old_string: 'text', new_string: 'TEXT' }
  expect((await edit(args)).code).toBe('FS_NOT_OBSERVED')
  expect((await edit(args)).code).toBe('FS_NOT_OBSERVED')
})

test('edit replaces one place, or all when asked', async () => {
  const { read, edit } = session()
  put('a', 'x = 1\ny = x\nz = x\n')
  await read({ file_path: 'a' })
  expect(await edit({ file_path: 'a', old_string: 'x', new_string: 'w' })).toMatchObject({
    code: 'FS_AMBIGUOUS_EDIT',
    text: expect.stringContaining('old_string occurs 3 times'),
  })
  const result = await edit({ file_path: 'a', old_string: 'x', new_string: '$&', replace_all: true })
  expect(result).toMatchObject({
    text: `Edited ${at('a')} in 3 places, the first at line 1.`,
    meta: { added: 3, removed: 3 },
  })
  expect(disk('a')).toBe('$& = 1\ny = $&\nz = $&\n')
})

test('B50 edit of a CRLF file keeps its line endings', async () => {
  const { read, edit } = session()
  put('a', 'one\r\ntwo\r\nthree\r\n')
  await read({ file_path: 'a' })
  const result = await edit({ file_path: 'a', old_string: 'one\ntwo', new_string: '1\n2' })
  expect(result.meta).toMatchObject({ added: 2, removed: 2 })
  expect(disk('a')).toBe('1\r\n2\r\nthree\r\n')
})

test('O-08 host files claim no confinement', () => {
  expect(hostFs().fs.sandboxMode).toBeUndefined()
})

test('without a policy write replaces at once, and refuses what is no file', async () => {
  const write = caller(writeTool(localFs()), { cwd: W })
  put('a', Buffer.from([0xe9, 0xff]))
  mkdirSync(at('d'))
  expect((await write({ file_path: 'a', content: 'x' })).code).toBeUndefined()
  expect(disk('a')).toBe('x')
  expect((await write({ file_path: 'd', content: 'x' })).code).toBe('FS_NOT_REGULAR_FILE')
  expect((await write({ file_path: 'e/', content: 'x' })).code).toBe('FS_INVALID_PATH')
})

test('an aborted call throws the reason of its signal', async () => {
  put('a', 'x')
  const signal = AbortSignal.abort(new Error('stopped by the user'))
  await expect(readTool(localFs()).run({ file_path: at('a') }, contextOf({ signal }))).rejects.toThrow(
    'stopped by the user',
  )
})
