import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { localFs } from './fs-local.ts'
import { globTool } from './glob.ts'
import { grepTool, MatchParser } from './grep.ts'
import { caller, contextOf, workspace } from './testing.ts'

let W: string
let space: ReturnType<typeof workspace>
const at = (name: string): string => join(W, name)
const put = (name: string, content: string | Uint8Array = ''): string => {
  mkdirSync(dirname(at(name)), { recursive: true })
  writeFileSync(at(name), content)
  return at(name)
}
const glob = (args: { pattern: string; path?: string }, cwd = W) => caller(globTool(localFs()), { cwd })(args)
const grep = (args: { pattern: string; path?: string; include?: string }, cwd = W) =>
  caller(grepTool(localFs()), { cwd })(args)

beforeEach(() => {
  space = workspace()
  W = space.root
})
afterEach(() => space[Symbol.dispose]())

test('glob: newest first, hidden and ignored included, no version control', async () => {
  const names = ['src/a.ts', '.hidden/b.ts', 'ignored/c.ts', 'd.js', '.git/e.ts', 'sub/.hg/f.ts']
  put('.gitignore', 'ignored\n')
  names.forEach((name, age) => utimesSync(put(name), 1000 - age, 1000 - age))
  utimesSync(at('ignored/c.ts'), 5000, 5000)
  const result = await glob({ pattern: '*.ts' })
  expect(result.text.split('\n')).toEqual(['ignored/c.ts', 'src/a.ts', '.hidden/b.ts'])
  expect(result.meta).toEqual({ kind: 'glob', pattern: '*.ts', path: W, files: 3, truncated: false })
})

test('glob: 100 results, the rest counted', async () => {
  for (let n = 0; n < 130; n++) put(`f${n}.txt`)
  const result = await glob({ pattern: '*.txt' })
  expect(result.text.split('\n')).toHaveLength(101)
  expect(result.text).toContain('[30 older files not shown')
})

test('glob: anchored, absolute, relative and outside paths', async () => {
  put('src/deep/a.ts')
  put('other/src/b.ts')
  expect((await glob({ pattern: './src/**/*.ts' })).text).toBe('src/deep/a.ts')
  expect((await glob({ pattern: '*.ts', path: 'other' })).text).toBe('other/src/b.ts')
  expect((await glob({ pattern: `${W}/other/**/*.ts` })).text).toBe('other/src/b.ts')
  expect((await glob({ pattern: at('other/src/b.ts') })).text).toBe('other/src/b.ts')
  expect((await glob({ pattern: '*.ts', path: at('other') }, at('src'))).text).toBe(at('other/src/b.ts'))
})

test('glob: odd names and patterns', async () => {
  put('with\nnewline.txt')
  put('!bang.txt')
  expect((await glob({ pattern: '!bang.txt' })).text).toBe('!bang.txt')
  expect((await glob({ pattern: 'with*' })).text).toBe('with\nnewline.txt')
  expect((await glob({ pattern: '--files' })).text).toBe('No files found.')
  expect(await glob({ pattern: '{a' })).toMatchObject({ code: 'SEARCH_FAILED', text: expect.stringContaining('{a') })
  expect((await glob({ pattern: '*', path: 'none' })).code).toBe('FS_NOT_FOUND')
  expect((await glob({ pattern: '*', path: '!bang.txt' })).code).toBe('FS_INVALID_PATH')
})

test('grep: path, line and text, in path order, with include', async () => {
  put('b.ts', 'one\nfoo(1)\r\n')
  put('a/c.ts', '\tfoo: 2\n')
  put('a/d.md', 'foo')
  put('.git/x', 'foo')
  const result = await grep({ pattern: 'foo' })
  expect(result.text.split('\n')).toEqual(['a/c.ts:1:\tfoo: 2', 'a/d.md:1:foo', 'b.ts:2:foo(1)'])
  expect(result.meta).toEqual({ kind: 'grep', pattern: 'foo', path: W, matches: 3, files: 3, truncated: false })
  expect((await grep({ pattern: 'foo', include: '*.md' })).text).toBe('a/d.md:1:foo')
  expect((await grep({ pattern: 'foo', path: 'b.ts' })).text).toBe('b.ts:2:foo(1)')
  expect((await grep({ pattern: 'foo', path: at('a') }, at('a'))).text.split('\n')[0]).toBe('c.ts:1:\tfoo: 2')
})

test('grep: nothing found is success, a bad pattern is not', async () => {
  put('a', 'x')
  expect(await grep({ pattern: 'nothing here' })).toMatchObject({ text: 'No matches.' })
  expect((await grep({ pattern: 'nothing here' })).code).toBeUndefined()
  expect(await grep({ pattern: '(' })).toMatchObject({
    code: 'SEARCH_FAILED',
    text: expect.stringContaining('unclosed group'),
  })
  expect((await grep({ pattern: 'x', path: 'none' })).code).toBe('FS_NOT_FOUND')
})

test('grep: patterns and names that look like options are data', async () => {
  put('-v', '--version\n')
  expect((await grep({ pattern: '--version' })).text).toBe('-v:1:--version')
  expect((await grep({ pattern: '-version', path: '-v' })).text).toBe('-v:1:--version')
})

test('grep: 250 matches and 2000 bytes a line, cut at a character', async () => {
  put('many', 'hit\n'.repeat(1000))
  const many = await grep({ pattern: 'hit' })
  expect(many.text.split('\n')).toHaveLength(251)
  expect(many.text).toContain('[only the first 250 matches shown')
  expect(many.meta).toMatchObject({ matches: 250, truncated: true })
  put('wide', `wide${'\u20ac'.repeat(2000)}`)
  const wide = await grep({ pattern: 'wide' })
  expect(wide.text).toBe(`wide:1:wide${'\u20ac'.repeat(665)} [line cut]`)
})

test('grep: binary files are no matches', async () => {
  put('bin', Buffer.from('\0\0needle\n'))
  put('text', 'needle')
  expect((await grep({ pattern: 'needle' })).text).toBe('text:1:needle')
})

test('a missing search program is a typed error result', async () => {
  put('a', 'x')
  const program = async (): Promise<string> => at('no-such-program')
  for (const tool of [globTool(localFs(), { program }), grepTool(localFs(), { program })])
    expect(await caller(tool, { cwd: W })({ pattern: 'x' })).toMatchObject({ code: 'SEARCH_UNAVAILABLE' })
})

/** A program that prints without end, or says nothing without end. */
function endless(body: string): { program: () => Promise<string> } {
  const path = put('endless.sh', `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
  return { program: async () => path }
}

test('a search that takes too long ends with a typed error', async () => {
  const tool = grepTool(localFs(), { ...endless('exec /bin/sleep 600'), timeoutMs: 50 })
  expect(await caller(tool, { cwd: W })({ pattern: 'x' })).toMatchObject({ code: 'SEARCH_TIMEOUT' })
})

test('raw output over the cap stops the search and says so', async () => {
  const tool = grepTool(localFs(), { ...endless('while :; do echo noise; done'), rawLimit: 10_000 })
  const result = await caller(tool, { cwd: W })({ pattern: 'x' })
  expect(result.code).toBeUndefined()
  expect(result.text).toContain('too much output')
})

test('an abort ends the program and throws the reason', async () => {
  const abort = new AbortController()
  const tool = globTool(localFs(), endless('exec /bin/sleep 600'))
  const run = tool.run({ pattern: 'x' }, contextOf({ cwd: W, signal: abort.signal }))
  setImmediate(() => abort.abort(new Error('stop')))
  await expect(run).rejects.toThrow('stop')
})

test('rows cut anywhere parse the same', () => {
  const row = fc.record({
    path: fc.stringMatching(/^[a-z]{1,5}$/),
    line: fc.integer({ min: 1, max: 99 }),
    text: fc.stringMatching(/^[a-z:\u00e9]{0,8}$/),
  })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 8 }), fc.integer({ min: 1, max: 7 }), (rows, size) => {
      const bytes = Buffer.from(rows.map(({ path, line, text }) => `${path}\0${line}:${text}\n`).join(''))
      const parser = new MatchParser(100)
      for (let from = 0; from < bytes.length; from += size) parser.push(bytes.subarray(from, from + size))
      expect(parser.matches).toEqual(rows)
    }),
  )
})
