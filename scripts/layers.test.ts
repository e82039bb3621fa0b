import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readLayers } from './layers.ts'

function planted(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'layers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return folder
}

/** The rules that a tree of files breaks, as `rule: from`; `packages` are found but not judged. */
async function broken(files: Record<string, string>, packages: Record<string, string> = {}): Promise<string[]> {
  const { summary, modules } = await readLayers(planted({ ...files, ...packages }))
  expect(modules.filter((module) => module.source in files)).toHaveLength(Object.keys(files).length)
  return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`).toSorted()
}

const leaf = 'export const leaf = 1\n'

test('imports that follow the table pass, and a test file is free', async () => {
  const found = await broken({
    'server/wire/a.ts': leaf,
    'server/projection/b.ts': "import { leaf } from '../wire/a.ts'\nexport const b = leaf\n",
    'server/wire/a.test.ts': "import { b } from '../projection/b.ts'\nb\n",
    'web/src/page.tsx': "import { b } from '../../server/projection/b.ts'\nexport const page = b\n",
  })
  expect(found).toEqual([])
})

test('an import against the table is named, a type-only one too', async () => {
  const found = await broken({
    'server/wire/a.ts': "import { b } from '../log/b.ts'\nexport const a = b\n",
    'server/tool/c.ts': "import type { B } from '../log/b.ts'\nexport const c = (b: B) => b\n",
    'server/log/b.ts': 'export const b = 1\nexport type B = number\n',
  })
  expect(found).toEqual(['room-tool: server/tool/c.ts', 'room-wire: server/wire/a.ts'])
})

test('a shape may cross where the table says so, its code may not', async () => {
  const projection = 'export interface SessionState { n: number }\nexport const n = 1\n'
  const frame = (what: string) => ({
    'server/projection/session-state.ts': projection,
    'server/wire/protocol.ts': `${what} from '../projection/session-state.ts'\nexport const version = 1\n`,
  })
  expect(await broken(frame('import type { SessionState }'))).toEqual([])
  expect(await broken(frame('import { n }'))).toEqual(['room-wire: server/wire/protocol.ts'])
})

test('the page sees nothing of the server but wire and projection, and a new room needs a row', async () => {
  const found = await broken({
    'server/log/b.ts': leaf,
    'server/pantry/d.ts': "import { leaf } from '../log/b.ts'\nexport const d = leaf\n",
    'web/src/page.ts': "import { leaf } from '../../server/log/b.ts'\nexport const page = leaf\n",
  })
  expect(found).toEqual(['page: web/src/page.ts', 'unknown-room: server/pantry/d.ts'])
})

test('a cycle of values and an import of nothing are errors', async () => {
  const found = await broken({
    'server/log/a.ts': "import { b } from './b.ts'\nexport const a = () => b\n",
    'server/log/b.ts': "import { a } from './a.ts'\nexport const b = () => a\n",
    'server/log/c.ts': "import { gone } from './gone.ts'\nexport const c = gone\n",
  })
  expect(found).toContain('no-cycles: server/log/a.ts')
  expect(found).toContain('resolvable: server/log/c.ts')
})

test('the kernel and the provider packages stay in their places', async () => {
  const kernel = "import { Context } from '@deepseek-ai/cordis'\nexport const c = Context\n"
  const provider = "import { createOpenAI } from '@ai-sdk/openai'\nexport const p = createOpenAI\n"
  const stub = (name: string) => ({
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, type: 'module', exports: './index.js' }),
    [`node_modules/${name}/index.js`]: 'export const Context = 1, createOpenAI = 2\n',
  })
  const files = {
    'server/plugins/k.ts': kernel,
    'server/turn/k.ts': kernel,
    'server/model/adapters/p.ts': provider,
    'server/model/p.ts': provider,
  }
  expect(await broken(files, { ...stub('@deepseek-ai/cordis'), ...stub('@ai-sdk/openai') })).toEqual([
    'kernel-in-composition: server/turn/k.ts',
    'provider-packages-in-adapters: server/model/p.ts',
  ])
})
