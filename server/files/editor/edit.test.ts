import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { linkSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Json } from '../../wire/json.ts'
import { hostFs } from '../fs-host.ts'
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
const bytes = (path: string): string => readFileSync(path, 'utf8')
const replace = (path: string, old_str: string, new_str?: string): Promise<Called> =>
  edit({ command: 'str_replace', path, old_str, ...(new_str !== undefined && { new_str }) })
const insert = (path: string, insert_line: Json | undefined, new_str = 'X'): Promise<Called> =>
  edit({ command: 'insert', path, new_str, ...(insert_line !== undefined && { insert_line }) })

/** The outcome of `work`, and whether it changed the file or left anything beside it. */
async function attempt(path: string, work: () => Promise<Called>): Promise<Called & { untouched: boolean }> {
  const [before, names] = [readFileSync(path), readdirSync(W)]
  const result = await work()
  return { ...result, untouched: readFileSync(path).equals(before) && readdirSync(W).join() === names.join() }
}
const refusal = (code: string, text: RegExp) => ({ code, text: expect.stringMatching(text), untouched: true })

beforeEach(() => {
  space = workspace()
  W = space.root
})
afterEach(() => space[Symbol.dispose]())

test('O-25 ED28 a unique match is replaced and nothing else', async () => {
  const path = put('a', 'one\ntwo\nthree\n')
  const result = await replace(path, 'two', '2')
  expect(result).toMatchObject({
    text: `Edited ${path} at line 2.`,
    meta: { kind: 'edit', path, added: 1, removed: 1 },
  })
  expect(result.code).toBeUndefined()
  expect(bytes(path)).toBe('one\n2\nthree\n')
  expect(readdirSync(W)).toEqual(['a'])
})

test('ED28 any unique literal is spliced byte-exactly', async () => {
  const path = put('a', '')
  const token = fc.stringMatching(/^[a-z{}$&\t ]{1,8}$/)
  const around = fc.array(fc.constantFrom('A', '\n', '\r\n', '\t', '\u00e9', '\u{1F600}', '\u0301', '\u05d0'), {
    maxLength: 30,
  })
  await fc.assert(
    fc.asyncProperty(around, token, around, fc.string({ unit: 'grapheme' }), async (head, old, tail, fresh) => {
      const [before, after] = [head.join(''), tail.join('')]
      const clean = fresh.replaceAll('\0', '').replaceAll('\n', '')
      fc.pre(
        old !== clean &&
          (before + old + after).split(old).length === 2 &&
          !`${before}${old}${after}`.includes(old + old),
      )
      fc.pre(before.indexOf(old) < 0 && (before + old + after).indexOf(old, before.length + 1) < 0)
      writeFileSync(path, before + old + after)
      expect((await replace(path, old, clean)).code).toBeUndefined()
      expect(bytes(path)).toBe(before + clean + after)
    }),
    { numRuns: 60 },
  )
})

test('ED29 B56 no match names the closest line and shows both spellings', async () => {
  const path = put('a', 'def main():\n\tprint("hello world")\n\treturn 0\n')
  expect(await attempt(path, () => replace(path, '    print("hello world")\n    return 0', 'x'))).toMatchObject(
    refusal('FS_EDIT_NOT_FOUND', /line 2 differs only in whitespace.*Line 2 is "\\tprint.*you gave "    print/),
  )
  expect(await attempt(path, () => replace(path, 'print("hallo world")', 'x'))).toMatchObject(
    refusal('FS_EDIT_NOT_FOUND', /closest line is 2: "\\tprint/),
  )
  expect(await attempt(path, () => replace(path, 'zzzzqqqq', 'x'))).toMatchObject(
    refusal('FS_EDIT_NOT_FOUND', /not found in .*nothing was changed\.$/),
  )
})

test('ED30 B56 several matches: the first line of each', async () => {
  const path = put('a', 'x\nfoo\nbar\ny\nfoo\nbar\nfoo\nbar')
  expect(await attempt(path, () => replace(path, 'foo', 'z'))).toMatchObject(
    refusal('FS_AMBIGUOUS_EDIT', /occurs 3 times.*lines 2, 5, 7;/),
  )
  expect(await attempt(path, () => replace(path, 'foo\nbar', 'z'))).toMatchObject(
    refusal('FS_AMBIGUOUS_EDIT', /occurs 3 times.*lines 2, 5, 7;/),
  )
})

test('ED30 thousands of matches make a short message', async () => {
  const path = put('a', 'a\n'.repeat(50_000))
  const result = await replace(path, 'a', 'b')
  expect(result.text).toContain('at least 1000 times')
  expect(result.text.length).toBeLessThan(600)
})

test('ED31 overlapping matches count', async () => {
  const path = put('a', 'aaa')
  expect(await attempt(path, () => replace(path, 'aa', 'b'))).toMatchObject(
    refusal('FS_AMBIGUOUS_EDIT', /occurs 2 times/),
  )
})

test('ED32 old_str empty or missing', async () => {
  const path = put('a', 'x')
  expect(await attempt(path, () => replace(path, '', 'b'))).toMatchObject(
    refusal('TOOL_ARGUMENTS_INVALID', /old_str is empty/),
  )
  expect(await attempt(path, () => edit({ command: 'str_replace', path, new_str: 'b' }))).toMatchObject(
    refusal('TOOL_ARGUMENTS_INVALID', /old_str is required/),
  )
})

test('ED33 a missing new_str deletes', async () => {
  const path = put('a', 'keep drop keep')
  await replace(path, ' drop')
  expect(bytes(path)).toBe('keep keep')
})

test('ED34 replacement patterns are literal', async () => {
  const path = put('a', 'a(X)b')
  await replace(path, 'X', "$& $1 $$ $` $' \n\\\\")
  expect(bytes(path)).toBe("a($& $1 $$ $` $' \n\\\\)b")
})

test('ED35 old equal to new is refused', async () => {
  const path = put('a', 'x\r\ny\r\n')
  expect(await attempt(path, () => replace(path, 'x', 'x'))).toMatchObject(
    refusal('TOOL_ARGUMENTS_INVALID', /nothing to change/),
  )
  expect(await attempt(path, () => replace(path, 'x\ny', 'x\r\ny'))).toMatchObject(
    refusal('TOOL_ARGUMENTS_INVALID', /nothing to change/),
  )
})

test('ED36 B50 an LF text matches in a CRLF file, which stays CRLF, in one hunk', async () => {
  const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`)
  const path = put('a', lines.join('\r\n') + '\r\n')
  const result = await replace(path, 'line 10\nline 11', 'ten\neleven\ntwelve')
  lines.splice(10, 2, 'ten', 'eleven', 'twelve')
  expect(bytes(path)).toBe(lines.join('\r\n') + '\r\n')
  expect(result.meta).toMatchObject({
    added: 3,
    removed: 2,
    hunks: [{ oldStart: 8, newStart: 8, oldLines: 8, newLines: 9 }],
  })
})

test('ED36 lines put into a CRLF file by a one-line match are CRLF too', async () => {
  const path = put('a', 'x\r\ny\r\n')
  await replace(path, 'y', '1\n2\r\n3')
  expect(bytes(path)).toBe('x\r\n1\r\n2\r\n3\r\n')
})

test('ED36 a text that begins with LF takes the whole line end of a CRLF file', async () => {
  const path = put('a', 'x\r\ny\r\nz')
  await replace(path, '\ny', '')
  expect(bytes(path)).toBe('x\r\nz')
})

test('ED37 in a mixed file an exact CRLF text changes its place only', async () => {
  const path = put('a', 'a\nb\r\nc\r\nd\n')
  await replace(path, 'b\r\nc\r\n', 'B\nC\r\n')
  expect(bytes(path)).toBe('a\nB\nC\r\nd\n')
  expect(await attempt(path, () => replace(path, 'C\nd', 'x'))).toMatchObject(
    refusal('FS_EDIT_NOT_FOUND', /line endings/),
  )
})

test('ED38 B54 the byte-order mark of an edited file stays', async () => {
  const path = put('a', '\ufeffone\ntwo')
  await replace(path, 'one', 'ONE')
  await insert(path, 0, 'first')
  expect([...readFileSync(path).subarray(0, 4)]).toEqual([0xef, 0xbb, 0xbf, 'f'.charCodeAt(0)])
  expect(bytes(path)).toBe('\ufefffirst\nONE\ntwo')
})

test('ED39 a missing final newline stays missing', async () => {
  const path = put('a', 'one\ntwo\nthree')
  await replace(path, 'two', '2')
  expect(bytes(path)).toBe('one\n2\nthree')
})

test('ED40 TABs of a Makefile stay', async () => {
  const path = put('Makefile', 'all:\n\tcc a.c\n\t\tld\tx\nclean:\n\trm  \tx\n')
  await replace(path, 'cc a.c', 'cc b.c')
  await insert(path, 1, '\techo hi')
  expect(bytes(path)).toBe('all:\n\techo hi\n\tcc b.c\n\t\tld\tx\nclean:\n\trm  \tx\n')
})

test('ED41 emoji, combining and right-to-left text are byte-exact', async () => {
  const path = put('a', '\u{1F468}\u200d\u{1F469} e\u0301 \u00e9 \u05e9\u05dc\u05d5\u05dd\n')
  await replace(path, 'e\u0301', '\u{1F3F4}')
  expect(bytes(path)).toBe('\u{1F468}\u200d\u{1F469} \u{1F3F4} \u00e9 \u05e9\u05dc\u05d5\u05dd\n')
})

test('ED42 without a policy an edit applies to the text as it is now', async () => {
  const path = put('a', 'one\ntwo\n')
  await edit({ command: 'view', path })
  writeFileSync(path, 'zero\none\ntwo\n')
  await replace(path, 'two', '2')
  expect(bytes(path)).toBe('zero\none\n2\n')
})

test('ED42 with the policy of the host an edit of a changed or unseen file is refused', async () => {
  const path = put('a', 'one\ntwo\n')
  const guarded = caller(strReplaceEditor(hostFs().fs))
  const call = { command: 'str_replace', path, old_str: 'two', new_str: '2' }
  expect(await attempt(path, () => guarded(call))).toMatchObject(refusal('FS_NOT_OBSERVED', /Read it first/))
  await guarded({ command: 'view', path })
  writeFileSync(path, 'zero\none\ntwo\n')
  expect(await attempt(path, () => guarded(call))).toMatchObject(refusal('FS_STALE_VERSION', /changed/))
  await guarded({ command: 'view', path, view_range: [1, 1] })
  expect((await guarded(call)).code).toBeUndefined()
})

test('ED43 an edit through a link changes the target and keeps the link', async () => {
  put('target', 'one')
  symlinkSync('target', at('link'))
  await replace(at('link'), 'one', 'two')
  expect(bytes(at('target'))).toBe('two')
  expect(lstatSync(at('link')).isSymbolicLink()).toBe(true)
})

test('ED45 modes are kept, as owner and for files of somebody else', async () => {
  const modes = [0o600, 0o755, 0o4755, 0o2755]
  for (const mode of modes) {
    const path = put(`m${mode.toString(8)}`, 'one')
    fs.chmodSync(path, mode)
    if (process.getuid?.() === 0) fs.chownSync(path, 1234, 4321)
    fs.chmodSync(path, mode)
    const before = statSync(path)
    const result = await replace(path, 'one', 'two')
    const after = statSync(path)
    expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid])
    expect(result.text).not.toContain('Note:')
  }
})

test('ED45 an unprivileged owner keeps the mode, or is told which bits went', async () => {
  const owned = ['600', '4755', '4711'].map((mode) => put(mode, 'one'))
  // Hard-linked, so written in place, where the kernel clears the setuid bit of a file that is not the writer's.
  const foreign = put('foreign', 'one')
  linkSync(foreign, at('second-name'))
  if (process.getuid?.() === 0) for (const path of owned) fs.chownSync(path, 65534, 65534)
  linkSync(at('4711'), at('4711-too'))
  for (const path of owned) fs.chmodSync(path, Number.parseInt(path.split('/').at(-1) ?? '', 8))
  fs.chmodSync(foreign, 0o4777)
  const call = (path: string): Json => ({ command: 'str_replace', path, old_str: 'one', new_str: 'two' })
  const results = runAsNobody([...owned, foreign].map(call), { open: W })
  expect(results.map((result) => result.code)).toEqual([undefined, undefined, undefined, undefined])
  expect(owned.map((path) => statSync(path).mode & 0o7777)).toEqual([0o600, 0o4755, 0o4711])
  const lost = (statSync(foreign).mode & 0o4000) === 0
  expect(results[3]?.text.includes('setuid bits (4000) could not be kept')).toBe(lost)
  expect(lost).toBe(process.getuid?.() === 0)
})

test('ED46 both names of a hard-linked file see the edit', async () => {
  const path = put('a', 'one long text\n')
  linkSync(path, at('b'))
  await replace(path, 'one long text', 'short')
  expect([bytes(at('a')), bytes(at('b'))]).toEqual(['short\n', 'short\n'])
  await replace(at('b'), 'short', 'longer than before')
  expect([bytes(at('a')), statSync(path).nlink]).toEqual(['longer than before\n', 2])
})

test('ED47 a read-only file or directory is a permission error for a user, with no temporary left', async () => {
  const path = put('ro.txt', 'one')
  fs.chmodSync(path, 0o444)
  // Its owner could rename over it: the refusal must come from the file's own mode.
  if (process.getuid?.() === 0) fs.chownSync(path, 65534, 65534)
  fs.mkdirSync(at('ro'))
  const inside = put('ro/in.txt', 'one')
  fs.chmodSync(inside, 0o666)
  fs.chmodSync(at('ro'), 0o555)
  const results = runAsNobody(
    [
      { command: 'str_replace', path, old_str: 'one', new_str: 'two' },
      { command: 'create', path: at('ro/new.txt'), file_text: 'x' },
      { command: 'create', path: at('ro/deep/er/new.txt'), file_text: 'x' },
      { command: 'str_replace', path: inside, old_str: 'one', new_str: 'two' },
    ],
    { open: W },
  )
  fs.chmodSync(at('ro'), 0o755)
  expect(results.map((result) => result.code)).toEqual(['FS_PERMISSION', 'FS_PERMISSION', 'FS_PERMISSION', undefined])
  expect(results[0]?.text).toContain('permission denied')
  expect([bytes(path), bytes(inside)]).toEqual(['one', 'two'])
  expect([readdirSync(W), readdirSync(at('ro'))]).toEqual([['ro', 'ro.txt'], ['in.txt']])
})

test('O-25 ED48 insert before the first, after a middle and at the end', async () => {
  const path = put('a', 'one\ntwo')
  await insert(path, 0, 'zero')
  await insert(path, 2, 'mid')
  await insert(path, 4, 'end')
  expect(bytes(path)).toBe('zero\none\nmid\ntwo\nend')
})

test.each([-1, 1.5, 4, undefined])('ED49 insert_line %j is refused with the allowed range', async (line) => {
  const path = put('a', 'one\ntwo\nthree')
  const result = await insert(path, line)
  expect(result.code).toBe('TOOL_ARGUMENTS_INVALID')
  expect(result.text).toContain('[0, 3]')
  expect(bytes(path)).toBe('one\ntwo\nthree')
})

test('ED50 insert of three lines, and of an empty one', async () => {
  const path = put('a', 'one\ntwo')
  expect((await insert(path, 1, 'a\nb\nc')).text).toBe(`Inserted 3 lines into ${path} after line 1.`)
  expect(bytes(path)).toBe('one\na\nb\nc\ntwo')
  await insert(path, 1, '')
  expect(bytes(path)).toBe('one\n\na\nb\nc\ntwo')
})

test('ED51 insert into an empty file', async () => {
  await insert(put('a', ''), 0)
  await insert(put('b', ''), 1)
  expect([bytes(at('a')), bytes(at('b'))]).toEqual(['X\n', '\nX'])
  const path = put('c', '')
  expect(await attempt(path, () => insert(path, 2))).toMatchObject(refusal('TOOL_ARGUMENTS_INVALID', /\[0, 1\]/))
})

test('ED52 insert after the empty last line', async () => {
  const path = put('a', 'one\n')
  await insert(path, 2)
  expect(bytes(path)).toBe('one\n\nX')
})

test('ED52 insert is the splice of the LF split', async () => {
  const path = put('a', '')
  const lines = fc.array(fc.constantFrom('', 'a', '\tb', '\u{1F600}'), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(lines, lines, fc.nat(6), async (have, fresh, where) => {
      const line = Math.min(where, have.length)
      writeFileSync(path, have.join('\n'))
      await insert(path, line, fresh.join('\n'))
      expect(bytes(path)).toBe(have.toSpliced(line, 0, ...fresh).join('\n'))
    }),
    { numRuns: 60 },
  )
})

test('ED53 lines inserted into a CRLF file are CRLF', async () => {
  const path = put('a', 'one\r\ntwo\r\n')
  await insert(path, 1, 'a\nb\r\nc')
  await insert(path, 6, 'end')
  expect(bytes(path)).toBe('one\r\na\r\nb\r\nc\r\ntwo\r\n\r\nend')
})

test('ED54 insert into a directory, and without new_str', async () => {
  expect((await insert(W, 0)).code).toBe('FS_NOT_REGULAR_FILE')
  const path = put('a', 'x')
  expect(await attempt(path, () => edit({ command: 'insert', path, insert_line: 0 }))).toMatchObject(
    refusal('TOOL_ARGUMENTS_INVALID', /new_str is required/),
  )
})

test('ED61 on a full disk the original stays and no temporary is left', async ({ skip }) => {
  const mounting = (script: string, ...args: string[]) =>
    spawnSync('/bin/sh', ['-c', 'exec unshare -Urm sh -c "$0" "$@"', script, ...args], { encoding: 'utf8', cwd: W })
  const probe = mounting(`mount -t tmpfs tmpfs "${W}"`)
  skip(probe.status !== 0, `this machine mounts no private tmpfs: ${probe.stderr}`)
  const big = (path: string): Json => ({ command: 'str_replace', path, old_str: 'end', new_str: 'y'.repeat(80_000) })
  const calls: Json[] = [
    big(`${W}/small/a`),
    big(`${W}/small/linked`),
    { command: 'create', path: `${W}/small/deep/new`, file_text: 'z'.repeat(80_000) },
    { command: 'str_replace', path: `${W}/small/a`, old_str: 'end', new_str: 'END' },
  ]
  put('calls', JSON.stringify(calls))
  fs.mkdirSync(at('small'))
  const script = `set -e
    mount -t tmpfs -o size=64k tmpfs small
    { head -c 9000 /dev/zero | tr '\\0' x; echo end; } > small/a
    cp small/a small/linked; cp small/a original; ln small/linked small/linked2
    "$0" "$1" < calls > out
    find small -mindepth 1 | sort > names
    cmp small/linked original; cp small/a after`
  const child = mounting(script, process.execPath, CHILD)
  expect(child).toMatchObject({ stderr: '', status: 0 })
  const results = JSON.parse(bytes(at('out'))) as Called[]
  expect(results.map((result) => result.code)).toEqual(['FS_IO', 'FS_IO', 'FS_IO', undefined])
  expect(results[0]?.text).toContain('no space left')
  expect(bytes(at('names'))).toBe('small/a\nsmall/linked\nsmall/linked2\n')
  expect(bytes(at('after'))).toBe(`${'x'.repeat(9000)}END\n`)
})

test('ED62 an abort leaves the original or the new content, never half', async () => {
  const old = `${'o'.repeat(9_000_000)}MARK`
  const path = put('a', old)
  const outcomes = new Set<string>()
  for (let ticks = 0; ticks < 14; ticks++) {
    writeFileSync(path, old)
    const abort = new AbortController()
    const call = edit({ command: 'str_replace', path, old_str: 'MARK', new_str: 'DONE' }, abort.signal)
    const settled = call.then(
      () => 'done',
      () => 'aborted',
    )
    for (let n = 0; n < ticks * 3; n++) await new Promise((next) => setImmediate(next))
    abort.abort()
    const outcome = await settled
    outcomes.add(outcome)
    expect(bytes(path) === (outcome === 'done' ? old.replace('MARK', 'DONE') : old)).toBe(true)
    expect(readdirSync(W)).toEqual(['a'])
  }
  expect(outcomes).toContain('aborted')
})

test('ED63 undo_edit takes edits back in order, then has no history', async () => {
  const undoing = caller(strReplaceEditor(localFs(), { undo: true }))
  const path = put('a', '\ufeffone\r\n')
  const undo = { command: 'undo_edit', path }
  await undoing({ command: 'str_replace', path, old_str: 'one', new_str: 'two' })
  await undoing({ command: 'insert', path, insert_line: 0, new_str: 'zero' })
  expect((await undoing(undo)).code).toBeUndefined()
  expect(bytes(path)).toBe('\ufefftwo\r\n')
  expect((await undoing(undo)).code).toBeUndefined()
  expect(bytes(path)).toBe('\ufeffone\r\n')
  expect(await undoing(undo)).toMatchObject({ code: 'FS_EDIT_NOT_FOUND', text: expect.stringContaining('no history') })
})

test('ED63 undo history is one per session and forgets the oldest', async () => {
  const tool = strReplaceEditor(localFs(), { undo: true })
  const [first, second] = [caller(tool, { session: 'one' }), caller(tool, { session: 'two' })]
  const path = put('a', 'v0')
  for (let n = 0; n < 22; n++) await first({ command: 'str_replace', path, old_str: `v${n}`, new_str: `v${n + 1}` })
  expect((await second({ command: 'undo_edit', path })).code).toBe('FS_EDIT_NOT_FOUND')
  for (let n = 0; n < 20; n++) expect((await first({ command: 'undo_edit', path })).code).toBeUndefined()
  expect(bytes(path)).toBe('v2')
  expect((await first({ command: 'undo_edit', path })).code).toBe('FS_EDIT_NOT_FOUND')
})

test('ED63 undo history keeps 4 MiB of text and drops the oldest edits', async () => {
  const undoing = caller(strReplaceEditor(localFs(), { undo: true }))
  const path = put('a', `v0${'x'.repeat(1_500_000)}`)
  for (let n = 0; n < 4; n++) await undoing({ command: 'str_replace', path, old_str: `v${n}`, new_str: `v${n + 1}` })
  const undo = { command: 'undo_edit', path }
  const codes = [await undoing(undo), await undoing(undo), await undoing(undo)].map((result) => result.code)
  expect(codes).toEqual([undefined, undefined, 'FS_EDIT_NOT_FOUND'])
  expect(bytes(path).slice(0, 2)).toBe('v2')
})

test('ED64 undo_edit refuses after a change from outside', async () => {
  const undoing = caller(strReplaceEditor(localFs(), { undo: true }))
  const path = put('a', 'one')
  await undoing({ command: 'str_replace', path, old_str: 'one', new_str: 'two' })
  writeFileSync(path, 'theirs')
  expect(await attempt(path, () => undoing({ command: 'undo_edit', path }))).toMatchObject(
    refusal('FS_STALE_VERSION', /changed/),
  )
})

test('ED65 two sessions editing one file at once lose no bytes', async () => {
  const path = put('a', Array.from({ length: 20 }, (_, n) => `<${n}>`).join('\n'))
  const editors = [localFs(), localFs()].map((own, n) => caller(strReplaceEditor(own), { session: `s${n}` }))
  const calls = Array.from({ length: 20 }, (_, n) =>
    editors[n % 2]?.({ command: 'str_replace', path, old_str: `<${n}>`, new_str: `[${n}]` }),
  )
  const results = await Promise.all(calls)
  expect(results.every((result) => result?.code === undefined)).toBe(true)
  expect(bytes(path)).toBe(Array.from({ length: 20 }, (_, n) => `[${n}]`).join('\n'))
})

test('ED65 a change between read and write is stale, not lost', async () => {
  const path = put('a', 'one two')
  const stale = localFs({ beforeEdit: () => writeFileSync(path, 'theirs, longer') })
  const editor = caller(strReplaceEditor(stale))
  const result = await editor({ command: 'str_replace', path, old_str: 'one', new_str: '1' })
  expect(result.code).toBe('FS_STALE_VERSION')
  expect(bytes(path)).toBe('theirs, longer')
  expect(readdirSync(W)).toEqual(['a'])
})

test('ED65 a change while the new content is being written is stale, not lost', async () => {
  const path = put('a', `${'o'.repeat(9_000_000)}MARK`)
  const watcher = fs.watch(W, (_event, name) => {
    if (!name?.endsWith('.tmp')) return
    watcher.close()
    writeFileSync(path, 'theirs')
  })
  const result = await replace(path, 'MARK', 'DONE')
  expect(result.code).toBe('FS_STALE_VERSION')
  expect(bytes(path)).toBe('theirs')
  expect(readdirSync(W)).toEqual(['a'])
})

test('B52 text that UTF-8 cannot hold is refused before the file is touched', async () => {
  const path = put('a', 'one')
  expect(await attempt(path, () => replace(path, 'one', '\ud83d'))).toMatchObject(refusal('FS_NOT_TEXT', /surrogate/))
  expect(await attempt(path, () => replace(path, 'one', 'a\0b'))).toMatchObject(refusal('FS_NOT_TEXT', /NUL/))
})

test('ED24 a file with a NUL is not edited', async () => {
  const path = put('a', 'one\0two')
  expect(await attempt(path, () => replace(path, 'one', '1'))).toMatchObject(
    refusal('FS_NOT_TEXT', /binary file \(7 bytes\)/),
  )
})

test('B53 B52 a file in another encoding is refused, not re-encoded', async () => {
  const path = put('a', Buffer.from('name = "caf\xe9"\nx = 1\n', 'latin1'))
  expect(await attempt(path, () => replace(path, 'x = 1', 'x = \u2192'))).toMatchObject(
    refusal('FS_NOT_TEXT', /ISO-8859-1/),
  )
  expect(await attempt(path, () => insert(path, 0, '\u2192'))).toMatchObject(refusal('FS_NOT_TEXT', /ISO-8859-1/))
})

test('a file over the edit limit is refused with the limit', async () => {
  const path = put('big', '')
  fs.truncateSync(path, 11 * 1024 * 1024)
  expect(await replace(path, 'a', 'b')).toMatchObject({
    code: 'FS_TOO_LARGE',
    text: expect.stringContaining('10485760'),
  })
})

test('snippet shows the numbered lines around a change only when configured', async () => {
  const path = put('a', Array.from({ length: 30 }, (_, n) => `l${n + 1}`).join('\n'))
  const snippets = caller(strReplaceEditor(localFs(), { snippet: true }))
  const result = await snippets({ command: 'insert', path, insert_line: 10, new_str: 'NEW' })
  expect(result.text.split('\n').slice(1)).toHaveLength(9)
  expect(result.text).toContain('\n     7  l7\n')
  expect(result.text).toContain('\n    11  NEW\n')
  expect((await replace(path, 'NEW', 'x')).text.split('\n')).toHaveLength(1)
})

test('O-08 O-07 the bare provider has no sandbox mode and asks nobody', async () => {
  expect('sandboxMode' in localFs()).toBe(false)
  const tool = strReplaceEditor(localFs())
  expect(tool.classify?.({ command: 'view', path: '/a' })).toEqual({ class: 'read', paths: ['/a'] })
  expect(tool.classify?.({ command: 'create', path: '/a' })).toEqual({ class: 'edit', paths: ['/a'] })
  const path = at('outside.txt')
  await edit({ command: 'create', path, file_text: 'x' })
  expect(execFileSync('cat', [path], { encoding: 'utf8' })).toBe('x')
})
