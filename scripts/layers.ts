import { globSync } from 'node:fs'
import { cruise } from 'dependency-cruiser'
import type { ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser'
import { assemblers, pageMayImport, reserved, rooms, typesOnly } from '../layers.config.ts'

const tests = '\\.test\\.tsx?$'

/** The table of `layers.config.ts` as dependency-cruiser rules. */
export function layerRules(): IForbiddenRuleType[] {
  const known = [...Object.keys(rooms), ...assemblers].join('|')
  return [
    ...Object.entries(rooms).flatMap(([room, allowed]) => {
      const shapes = typesOnly[room] ?? []
      const from = { path: `^server/${room}/`, pathNot: tests }
      const places = (list: readonly string[]) => `^server/(${list.join('|')})(/|\\.)`
      const rule: IForbiddenRuleType = {
        name: `room-${room}`,
        severity: 'error',
        comment: `${room} may import ${allowed.join(', ') || 'nothing'}`,
        from,
        to: { path: '^(server|web)/', pathNot: places([room, ...allowed, ...shapes]) },
      }
      if (shapes.length === 0) return [rule]
      const erased = { path: places(shapes), dependencyTypesNot: ['type-only' as const] }
      return [rule, { ...rule, to: erased }]
    }),
    {
      name: 'unknown-room',
      severity: 'error',
      comment: 'a folder under server/ needs a row in layers.config.ts',
      from: { path: `^server/(?!(${known})/)[^/]+/` },
      to: {},
    },
    {
      name: 'page',
      severity: 'error',
      comment: `the page may import ${pageMayImport.join(', ')} of the server`,
      from: { path: '^web/' },
      to: { path: '^server/', pathNot: `^server/(${pageMayImport.join('|')})/` },
    },
    {
      name: 'server-without-page',
      severity: 'error',
      from: { path: '^server/', pathNot: tests },
      to: { path: '^(web|e2e|scripts)/' },
    },
    ...reserved.map((rule) => ({
      name: rule.name,
      severity: 'error' as const,
      comment: rule.why,
      from: { path: '^(server|web)/', pathNot: `${rule.places}|${tests}` },
      to: { path: rule.package },
    })),
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only', 'dynamic-import'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ]
}

/** Reads the imports of `server/` and `web/src/` below a folder and judges them by the rules. */
export async function readLayers(baseDir: string): Promise<ICruiseResult> {
  const folders = ['server', 'web/src'].filter(
    (folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: baseDir }).length > 0,
  )
  const { output } = await cruise(folders, {
    baseDir,
    validate: true,
    ruleSet: { forbidden: layerRules() },
    doNotFollow: { path: ['node_modules'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.server.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  })
  if (typeof output === 'string') throw new Error('dependency-cruiser answered with text instead of a result')
  return output
}

const ownFile = /^(server|web\/src)\/.*\.tsx?$/

if (import.meta.main) {
  const result = await readLayers(process.cwd())
  const read = new Set(result.modules.map((module) => module.source).filter((source) => ownFile.test(source)))
  const onDisk = globSync(['server/**/*.{ts,tsx}', 'web/src/**/*.{ts,tsx}']).map((file) => file.replaceAll('\\', '/'))
  const unread = onDisk.filter((file) => !read.has(file))
  for (const { rule, from, to } of result.summary.violations) console.error(`${rule.name}: ${from} -> ${to}`)
  // A checker that cannot parse the sources reads nothing and finds nothing wrong.
  if (onDisk.length === 0) console.error('no source file found')
  if (unread.length > 0) console.error(`not read by the layer check: ${unread.join(', ')}`)
  console.log(`layers: ${read.size} modules read, ${onDisk.length} files on disk`)
  process.exit(result.summary.error > 0 || onDisk.length === 0 || unread.length > 0 ? 1 : 0)
}
