import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'

const program = pathToFileURL(join(import.meta.dirname, 'precompress.mjs')).href
// Long enough, and varied enough, that two brotli qualities differ in size.
const script = Array.from({ length: 4000 }, (_, n) => `export const v${(n * 7919) % 4001} = ${Math.sin(n)}`).join('\n')

function built(): string {
  const folder = mkdtempSync(join(tmpdir(), 'page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'assets'))
  mkdirSync(join(folder, '.vite'))
  const manifest = {
    'index.html': { file: 'assets/entry.js', isEntry: true, imports: ['_react.js'] },
    '_react.js': { file: 'assets/react.js' },
    'lazy.ts': { file: 'assets/lazy.js', isDynamicEntry: true },
  }
  writeFileSync(join(folder, '.vite', 'manifest.json'), JSON.stringify(manifest))
  for (const name of ['entry.js', 'react.js', 'lazy.js']) writeFileSync(join(folder, 'assets', name), script)
  writeFileSync(join(folder, 'assets', 'tiny.js'), 'export {}')
  writeFileSync(join(folder, 'assets', 'font.woff2'), script)
  execFileSync(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { precompress } from ${JSON.stringify(program)}; await precompress(${JSON.stringify(folder)})`,
  ])
  return folder
}

const packed = (quality: number) =>
  brotliCompressSync(script, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }).length

test('every text file of a built page gets both encodings, the first load the better one', () => {
  const folder = built()
  const brotli = (name: string) => readFileSync(join(folder, 'assets', `${name}.br`))
  for (const name of ['entry.js', 'react.js', 'lazy.js']) {
    expect(brotliDecompressSync(brotli(name)).toString()).toBe(script)
    expect(gunzipSync(readFileSync(join(folder, 'assets', `${name}.gz`))).toString()).toBe(script)
  }
  expect(packed(11)).toBeLessThan(packed(9))
  expect(Math.abs(brotli('entry.js').length - packed(11))).toBeLessThan(64)
  expect(Math.abs(brotli('react.js').length - packed(11))).toBeLessThan(64)
  expect(Math.abs(brotli('lazy.js').length - packed(9))).toBeLessThan(64)
  expect(existsSync(join(folder, 'assets', 'tiny.js.br'))).toBe(false)
  expect(existsSync(join(folder, 'assets', 'font.woff2.br'))).toBe(false)
})
