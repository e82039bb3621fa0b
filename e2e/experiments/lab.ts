import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { boot, HOST_FILE } from '../../server/boot.ts'
import { parseFlags } from '../../server/flags.ts'
import { dumpRows } from '../../server/preset/document.ts'
import { parseList } from '../../server/preset/file.ts'
import { INCLUDE } from '../../server/preset/rows.ts'
import { renderContexts, renderPrompt } from '../../server/prompt/template.ts'
import { Bench, syntheticRows } from './synthetic.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { Host } from '../../server/boot.ts'
import type { AgentPresets } from '../../server/preset/service.ts'
import type { Assembly } from '../../server/prompt/assembly.ts'
import type { ScopeKey } from '../../server/scope/scope.ts'
import type { LiveSession } from '../../server/session/live.ts'
import type { Sessions } from '../../server/session/sessions.ts'
import type { Selection } from '../../server/wire/messages.ts'

export const A: Selection = { provider: 'route-a', model: 'model-a' }
export const B: Selection = { provider: 'route-b', model: 'model-b' }

const ROOT = join(import.meta.dirname, '../..')

/** Rows of the shipped host file that an experiment answers for itself, or has no use for. */
const LEFT_OUT = ['web-server', 'llm-demo', 'providers', 'credentials', 'config-editor', INCLUDE]

/** The shipped host file with other configs for some rows, synthetic models, and these documents. */
async function hostRows(configs: Record<string, object>, documents: readonly string[]): Promise<string> {
  const path = join(ROOT, HOST_FILE)
  const shipped = parseList(await readFile(path, 'utf8'), path) as EntryOptions[]
  const rows = shipped.filter(({ name }) => !LEFT_OUT.includes(name))
  const configured = rows.map((row) => (configs[row.name] ? { ...row, config: configs[row.name] } : row))
  const includes = documents.map((id) => ({ id: `preset-${id}`, name: INCLUDE, config: { path: `presets/${id}.yml` } }))
  return dumpRows([...configured, { id: 'models', name: 'synthetic-models' }, ...includes])
}

/** One preset document: its child rows as YAML in list form, and further keys of the declaration. */
export interface Document {
  rows: string
  keys?: Record<string, string | number>
}

export interface Setup {
  presets?: Record<string, Document>
  /** Config of the registry row. */
  registry?: { default?: string; selectedDefault?: string }
  prompt?: { personaPrefix?: string; personaSuffix?: string }
  defaultModel?: Partial<Selection>
  /** Further host rows. */
  rows?: string
}

/** A row that gives a preset one synthetic tool. */
export const tool = (name: string): string => `- {id: ${name}, name: synthetic-tool, config: {name: ${name}}}`
export const persona = (config: object): string => `- {id: persona, name: persona, config: ${JSON.stringify(config)}}`
export const doc = (...rows: string[]): Document => ({ rows: rows.join('\n') })

const text = (id: string, { rows, keys = {} }: Document): string =>
  [
    `- id: declare-${id}`,
    '  name: agent-preset',
    '  config:',
    `    id: ${id}`,
    ...Object.entries(keys).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}`),
    rows === '' ? '    plugins: []' : '    plugins:',
    rows.replaceAll(/^(?=.)/gm, '      '),
    '',
  ].join('\n')

/** A host of its own for one experiment: real boot, row files on disk, registry, sessions and agents. */
export class Lab {
  readonly bench = new Bench()
  readonly #root: string
  #setup: Setup
  #host: Host | undefined
  #workspace = ''

  constructor(root: string, setup: Setup) {
    this.#root = root
    this.#setup = setup
  }

  get host(): Host {
    return this.#host!
  }
  get presets(): AgentPresets {
    return this.service('agentPresets')
  }
  get sessions(): Sessions {
    return this.service('sessions')
  }

  service<K extends keyof Context & string>(name: K): Context[K] {
    const found = this.host.service(name)
    if (!found) throw new Error(`the host has no ${name}: ${JSON.stringify(this.host.report.rows)}`)
    return found
  }

  async start(): Promise<void> {
    await this.#write()
    const dataDir = join(this.#root, 'data')
    const parsed = parseFlags(['serve', '--data', dataDir, '--port', '0', '--no-open'], {}, this.#root)
    if (parsed.kind === 'refused') throw new Error(parsed.message)
    this.#host = await boot({
      rootDir: this.#root,
      dataDir,
      flags: parsed.flags,
      env: { HOME: this.#root },
      catalog: syntheticRows(this.bench),
      required: [],
    })
    const work = join(this.#root, 'work')
    await mkdir(work)
    this.#workspace = (await this.service('workspaces').add(work, true)).id
  }

  /** Changes the row files on disk and has the running host read them again. */
  async change(change: Setup): Promise<void> {
    this.#setup = { ...this.#setup, ...change }
    await this.#write()
    await this.host.reload()
    await this.presets.settled()
  }

  declare(id: string, document: Document): Promise<void> {
    return this.change({ presets: { ...this.#setup.presets, [id]: document } })
  }

  withdraw(id: string): Promise<void> {
    const { [id]: _withdrawn, ...presets } = this.#setup.presets ?? {}
    return this.change({ presets })
  }

  /** A session as a person makes one. */
  async session(args: { preset?: string; selection?: Selection } = {}): Promise<LiveSession> {
    const { session } = await this.sessions.create({ workspace: this.#workspace, ...args })
    return this.sessions.live(session)!
  }

  /** One whole turn with the synthetic model. */
  async turn(session: LiveSession, prompt = 'go'): Promise<void> {
    await this.sessions.prompt(session.id, prompt, 'queue')
    await session.agent.whenIdle()
  }

  tools(scope: ScopeKey | null): string[] {
    return this.service('tools')
      .view(scope)
      .map(({ spec }) => spec.name)
  }

  /** What the agent's next step would be made of. */
  assemble(session: LiveSession, variables: Record<string, string | undefined> = {}): Promise<Assembly> {
    const { agent } = session
    const tools = this.service('tools')
      .view(agent.scope)
      .map(({ spec }) => spec)
    const { signal } = new AbortController()
    return this.service('systemPrompt').assemble({ agent, scope: agent.scope, signal, tools, variables })
  }

  async prompt(session: LiveSession, variables?: Record<string, string | undefined>): Promise<string> {
    return renderPrompt(await this.assemble(session, variables))
  }

  async contexts(session: LiveSession): Promise<string> {
    return renderContexts(await this.assemble(session))
  }

  /** Ids of the mounted revisions, a revision once however many use it. */
  revisions(): string[] {
    return this.presets
      .inspectCompositions()
      .map(({ id }) => id)
      .toSorted()
  }

  setDefaultModel(defaultModel: Partial<Selection>): Promise<void> {
    return this.change({ defaultModel })
  }

  async close(): Promise<void> {
    await this.#host?.close()
    await rm(this.#root, { recursive: true, force: true })
  }

  async #write(): Promise<void> {
    const { presets = {}, registry, prompt, defaultModel = A, rows = '' } = this.#setup
    const ids = Object.keys(presets)
    for (const id of ids) await this.#put(`presets/${id}.yml`, text(id, presets[id]!))
    const configs = {
      'agent-default-model': defaultModel,
      'system-prompt': { includeHarnessIdentity: false, ...prompt },
      'agent-presets': { default: 'standard', ...registry },
    }
    await this.#put(HOST_FILE, (await hostRows(configs, ids)) + rows)
  }

  async #put(path: string, content: string): Promise<void> {
    await mkdir(dirname(join(this.#root, path)), { recursive: true })
    await writeFile(join(this.#root, path), content)
  }
}

/** Runs `use` in a lab of its own, and leaves nothing of it behind. */
export async function inLab<T>(setup: Setup, use: (lab: Lab) => Promise<T>): Promise<T> {
  const lab = new Lab(await realpath(await mkdtemp(join(tmpdir(), 'core-web-experiment-'))), setup)
  try {
    await lab.start()
    return await use(lab)
  } finally {
    await lab.close()
  }
}
