import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lineOf } from '../server/boot-layers.ts'
import { catalog } from '../server/catalog.ts'
import { parseList } from '../server/preset/file.ts'
import { planeProblem } from '../server/preset/loader.ts'
import { PRESET_ROW, flatRows, unknownKeys } from '../server/preset/rows.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { Catalog, Plane } from '../server/preset/loader.ts'

const KERNEL_ROWS = new Set(['cordis:group', 'cordis:include'])

function* problemsOn(plane: Plane, rows: readonly EntryOptions[], known: Catalog): Generator<[EntryOptions, string]> {
  for (const row of flatRows(rows)) {
    const unknown = unknownKeys(row)
    if (unknown !== undefined) yield [row, unknown]
    const problem = planeProblem(known, row.name, plane)
    if (problem) yield [row, problem]
    else if (!Object.hasOwn(known, row.name) && !KERNEL_ROWS.has(row.name))
      yield [row, `${row.name} is not in the catalog`]
    const { plugins } = (row.config ?? {}) as { plugins?: EntryOptions[] }
    if (row.name === PRESET_ROW && plugins) yield* problemsOn('preset', plugins, known)
  }
}

/** Rows of a shipped file that stand on the wrong plane, name no plugin or have a key that no row has (O-01), one line each. */
export const planeProblems = (text: string, file: string, known: Catalog = catalog): string[] =>
  [...problemsOn('host', parseList(text, file) as EntryOptions[], known)].map(([row, problem]) => {
    const line = lineOf(text, row.id ?? row.name)
    return `${file}${line === undefined ? '' : `:${line}`}: row ${row.id ?? '(without id)'}: ${problem}`
  })

if (import.meta.main) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  const files = ['core-web.cordis.yml', ...globSync('presets/*.yml')]
  const problems = files.flatMap((file) => planeProblems(readFileSync(file, 'utf8'), file))
  for (const problem of problems) console.error(problem)
  console.log(`planes: ${files.length} files read`)
  process.exit(problems.length > 0 || files.length < 2 ? 1 : 0)
}
