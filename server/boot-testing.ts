import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { boot, HOST_FILE } from './boot.ts'
import { parseFlags } from './flags.ts'
import { plugin } from './preset/kernel.ts'
import { scopeOf } from './preset/scope-tag.ts'
import { text } from './tool/tool.ts'
import type { BootOptions, Host } from './boot.ts'
import type { Flags } from './flags.ts'
import type { Catalog, CatalogEntry } from './preset/loader.ts'
import type { Draft, LogEvent } from './wire/events.ts'
import './plugins/context.ts'

export interface TestHost {
  host: Host
  rootDir: string
  dataDir: string
  /** Writes a file of the host's root folder. */
  write(path: string, content: string): Promise<void>
}

export function testFlags(dataDir: string, changes: Partial<Flags> = {}): Flags {
  const parsed = parseFlags(['serve', '--data', dataDir, '--port', '0', '--no-open'], {}, '/')
  if (parsed.kind === 'refused') throw new Error(parsed.message)
  return { ...parsed.flags, ...changes }
}

/** The host rows that a preset needs, without anything that talks or stores. */
export const CORE_ROWS = `
- id: scopes
  name: scopes
- id: hooks
  name: hooks
- id: system-prompt
  name: system-prompt
- id: tool-registry
  name: tool-registry
- id: fs-host
  name: fs-host
`

export const REGISTRY_ROW = `
- id: agent-presets
  name: agent-presets
  config:
    default: standard
- {id: state-store, name: state-store}
`

/** A row \`probe-tool\` in a preset registers a tool of the configured name. */
export const probeTool = plugin<{ name: string }>({
  name: 'probe-tool',
  inject: ['tools'],
  config: {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) =>
        typeof (value as { name?: unknown }).name === 'string'
          ? { value }
          : { issues: [{ message: 'name is missing' }] },
    },
  },
  apply(ctx, { name }) {
    const tool = { spec: { name, description: name, parameters: { type: 'object' } }, run: async () => text(name) }
    ctx.effect(() => ctx.tools.add(scopeOf(ctx) ?? null, tool))
  },
})

/** A row \`probe-needs-late\` waits for a service that nobody has to provide. */
export const needsLate = plugin({ name: 'probe-needs-late', inject: ['exampleLateService' as 'tools'], apply() {} })

/** A row \`probe-provider\` provides \`probeService\`. */
export const provider = plugin({
  name: 'probe-provider',
  apply(ctx) {
    ctx.provide('probeService', { from: ctx.fiber.entry?.id })
  },
})

/** A row \`probe-thrower\` fails at activation. */
export const thrower = plugin({
  name: 'probe-thrower',
  apply() {
    throw new Error('the probe gives up')
  },
})

const inPreset = (value: unknown): CatalogEntry => ({ plane: 'preset', load: () => Promise.resolve(value) })

export const PROBES: Catalog = {
  'probe-tool': inPreset(probeTool),
  'probe-needs-late': inPreset(needsLate),
  'probe-provider': inPreset(provider),
  'probe-thrower': inPreset(thrower),
}

/** Boots a host from the given files (path in the root folder to content) on real disk; closed with the test. */
export async function testHost(
  files: Record<string, string>,
  options: Partial<BootOptions> = {},
  folder?: string,
): Promise<TestHost> {
  const rootDir = folder ?? options.rootDir ?? (await mkdtemp(join(tmpdir(), 'core-web-boot-')))
  const dataDir = options.dataDir ?? join(rootDir, 'data')
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(rootDir, path)), { recursive: true })
    await writeFile(join(rootDir, path), content)
  }
  for (const [path, content] of Object.entries(files)) await write(path, content)
  const host = await boot({
    rootDir,
    dataDir,
    flags: testFlags(dataDir),
    env: {},
    ...options,
    catalog: { ...PROBES, ...options.catalog },
  })
  onTestFinished(async () => {
    await host.close()
    await rm(rootDir, { recursive: true, force: true })
  })
  return { host, rootDir, dataDir, write }
}

/** A host with presets of the given ids, each with one tool of its own name. */
export const presetHost = (declarations: string, options?: Partial<BootOptions>): Promise<TestHost> =>
  testHost({ [HOST_FILE]: CORE_ROWS + REGISTRY_ROW + declarations }, options)

/** Text of an \`agent-preset\` row; \`rows\` is its child list in flow or block style, indented by six. */
export const declare = (id: string, rows: string, more = ''): string => `
- id: declare-${id}
  name: agent-preset
  config:
    id: ${id}${more && `\n    ${more}`}
    plugins:
${rows.replaceAll(/^/gm, '      ')}
`

export const tool = (name: string): string => `- {id: ${name}, name: probe-tool, config: {name: ${name}}}`

/** An agent as a preset switch sees it, with a log in memory. */
export function testAgent(id: string): {
  id: string
  scope: object
  log: { events: LogEvent[]; append(...drafts: Draft[]): LogEvent[]; refuse: boolean }
  runMaintenance<T>(work: () => Promise<T>): Promise<T>
} {
  const events: LogEvent[] = []
  return {
    id,
    scope: {},
    log: {
      events,
      refuse: false,
      append(...drafts) {
        if (this.refuse) throw new Error('the disk is full')
        const committed = drafts.map((one, index) => ({ ...one, seq: events.length + index, time: 0 }))
        events.push(...committed)
        return committed
      },
    },
    runMaintenance: (work) => work(),
  }
}

/** Removes a row of the host file and waits until it is gone. */
export async function removeRow({ host }: TestHost, id: string): Promise<void> {
  const entry = host.ctx.loader.resolve(`host:${id}`)
  const { fiber } = entry
  entry.parent.remove(entry.options.id)
  while (fiber?.inertia) await fiber.inertia
}

export const withdraw = (made: TestHost, id: string): Promise<void> => removeRow(made, `declare-${id}`)

export const LIBRARY_ROW = '- {id: preset-library, name: preset-library}\n'

const SHIPPED = join(import.meta.dirname, '..')

/** A host with the shipped preset documents, included as the shipped host file does, and only the rows that presets need. */
export async function shippedPresets(
  options?: Partial<BootOptions>,
  more: Record<string, string> = {},
): Promise<TestHost> {
  const includes = ['standard', 'minimal'].map(
    (id) => `- {id: preset-${id}, name: cordis:include, config: {path: presets/${id}.yml}}\n`,
  )
  const rootDir = await mkdtemp(join(tmpdir(), 'core-web-shipped-'))
  await cp(join(SHIPPED, 'presets'), join(rootDir, 'presets'), { recursive: true })
  const rows = CORE_ROWS + REGISTRY_ROW + LIBRARY_ROW + includes.join('')
  return testHost({ [HOST_FILE]: rows, ...more }, options, rootDir)
}
