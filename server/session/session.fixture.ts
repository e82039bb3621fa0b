import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { Header, LogEvent } from '../wire/events.ts'
import type { SessionState } from '../projection/session-state.ts'
import { rowOf } from './rows.ts'
import type { Selection } from '../wire/messages.ts'
import type { SessionRow } from '../wire/views.ts'
import { AgentRegistry } from '../agent/registry.ts'
import { SessionStore } from '../log/store.ts'
import { effortCard, fillHeader } from '../model/header.ts'
import type { ModelFacts, Route } from '../model/port.ts'
import { Routes } from '../model/routes.ts'
import { ScriptedModel, world } from '../turn/turn.fixture.ts'
import { StateStore } from '../workspace/state.ts'
import { Workspaces } from '../workspace/workspaces.ts'
import type { Delta, Feed, ToolOutput } from './feed.ts'
import type { DefaultModel, Index, Presets } from './ports.ts'
import type { SessionsOptions } from './options.ts'
import { Sessions } from './sessions.ts'

/** The index as a map: lists what was noted, keeps marks. */
export class MemoryIndex implements Index {
  readonly rows = new Map<string, SessionRow>()
  note(header: Header, state: SessionState): void {
    this.rows.set(header.id, rowOf(header, state, { pinned: false, archived: false }))
  }
  async list() {
    return { rows: [...this.rows.values()] }
  }
  async get(id: string) {
    return this.rows.get(id)
  }
  async search() {
    return []
  }
  async patch(id: string, marks: { pinned?: boolean; archived?: boolean }) {
    const row = this.rows.get(id)
    if (row) this.rows.set(id, { ...row, ...marks })
  }
  async remove(id: string) {
    this.rows.delete(id)
  }
  async usage(): Promise<never> {
    throw new Error('this index knows nothing of usage')
  }
  async usageTable() {
    return []
  }
  async spent() {
    return []
  }
}

export class MemoryDefault implements DefaultModel {
  selection: Selection | undefined
  saves: Selection[] = []
  save: (selection: Selection) => Promise<void> = async () => {}
  constructor(selection?: Selection) {
    this.selection = selection
  }
  currentSelection() {
    return this.selection && { ...this.selection }
  }
  async saveSelection(selection: Selection) {
    this.saves.push({ ...selection })
    await this.save(selection)
    this.selection = { ...selection }
  }
}

/** Remembers everything the feed said, in order. */
export class Recorder implements Feed {
  readonly committed: { session: string; events: readonly LogEvent[] }[] = []
  readonly deltas: Delta[] = []
  readonly outputs: ToolOutput[] = []
  readonly removed: string[] = []
  events(session: string, events: readonly LogEvent[]): void {
    this.committed.push({ session, events })
  }
  delta(_session: string, delta: Delta): void {
    this.deltas.push(delta)
  }
  output(_session: string, output: ToolOutput): void {
    this.outputs.push(output)
  }
  writer(): void {}
  rows(_rows: SessionRow[], removed: string[]): void {
    this.removed.push(...removed)
  }
}

export const A: Selection = { provider: 'route-a', model: 'model-a' }
export const B: Selection = { provider: 'route-b', model: 'model-b' }

const facts = (id: string, listed: boolean): ModelFacts => ({
  id,
  name: id,
  inputs: ['text'],
  reasoning: listed,
  efforts: listed ? [{ id: 'low' }, { id: 'high' }] : [],
  listed,
})

export function scriptedRoute(id: string, model: ScriptedModel, listed: readonly string[]): Route {
  const describe = async (name: string) => facts(name, listed.includes(name))
  return {
    id,
    label: id,
    wire: 'chat',
    retry: model.retry,
    models: async () => listed.map((name) => facts(name, true)),
    describe,
    async prepare(config) {
      const known = await describe(config.model)
      effortCard(known, config.reasoningEffort)
      const prepared = await model.prepare(config)
      return { ...prepared, facts: known, header: fillHeader(config, known) }
    },
  }
}

export interface Rig {
  sessions: Sessions
  store: SessionStore
  agents: AgentRegistry
  hooks: ReturnType<typeof world>['hooks']
  world: ReturnType<typeof world>
  routes: Routes
  index: MemoryIndex
  fallback: MemoryDefault
  workspaces: Workspaces
  feed: Recorder
  dataDir: string
  workspace: string
  warnings: string[]
}

export interface RigOptions {
  model?: ScriptedModel
  fallback?: MemoryDefault
  presets?: Presets
  dataDir?: string
  /** In the place of `route-a` and `route-b`, which play the script. */
  routes?: readonly Route[]
  /** The folder that sessions work in. */
  work?: string
  options?: Partial<SessionsOptions>
}

const open: Sessions[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((sessions) => sessions.close()))
})

/** The session room on its real neighbours: log on disk, agent loop, hooks; only the model is scripted. */
export async function rig({
  model = new ScriptedModel({ text: 'done' }),
  fallback = new MemoryDefault(A),
  presets,
  ...rest
}: RigOptions = {}): Promise<Rig> {
  const dataDir = rest.dataDir ?? realpathSync(mkdtempSync(join(tmpdir(), 'sessions-')))
  const store = new SessionStore(dataDir, { allowNetworkDisk: true })
  await store.prepare()
  const routes = new Routes()
  const scripted = [scriptedRoute('route-a', model, ['model-a']), scriptedRoute('route-b', model, ['model-b'])]
  for (const route of rest.routes ?? scripted) routes.add(route)
  const loop = world(model, { prepare: (config, signal) => routes.prepare(config, signal) })
  const agents = new AgentRegistry(loop)
  const workspaces = new Workspaces({ dataDir, state: new StateStore(dataDir), home: '/nonexistent' })
  const index = new MemoryIndex()
  const warnings: string[] = []
  const sessions = new Sessions({
    store,
    agents,
    hooks: loop.hooks,
    routes,
    workspaces,
    index,
    writer: 'test',
    defaultModel: fallback,
    warn: (message) => warnings.push(message),
    ...(presets && { presets }),
    ...rest.options,
  })
  open.push(sessions)
  const feed = new Recorder()
  sessions.feeds.add(feed)
  const folder = rest.work ?? realpathSync(mkdtempSync(join(tmpdir(), 'work-')))
  const workspace = (await workspaces.add(folder, true)).id
  return {
    sessions,
    store,
    agents,
    hooks: loop.hooks,
    world: loop,
    routes,
    index,
    fallback,
    workspaces,
    feed,
    dataDir,
    workspace,
    warnings,
  }
}

export async function created(from: Rig, args: Partial<Parameters<Sessions['create']>[0]> = {}): Promise<string> {
  return (await from.sessions.create({ workspace: from.workspace, ...args })).session
}

/** Sends a prompt and waits until the agent rests. */
export async function turn(from: Rig, session: string, text = 'go'): Promise<void> {
  await from.sessions.prompt(session, text, 'queue')
  await from.sessions.live(session)!.agent.whenIdle()
}
