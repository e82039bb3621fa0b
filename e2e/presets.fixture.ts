import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PresetRow } from '../server/wire/views.ts'
import type { ServerFrame } from '../server/wire/protocol.ts'
import type { Client } from './client.ts'
import { startHost, type TestHost, type TestHostOptions } from './host.ts'

export const DEMO = { provider: 'demo', model: 'scripted', alsoDefault: false }

export const documentOf = (id: string, rows: string, more = ''): string =>
  `- id: ${id}\n  name: agent-preset\n  config:\n    id: ${id}\n${more}    plugins:\n${rows.replaceAll(/^(?=.)/gm, '      ')}\n`

export const persona = (prefix: string): string => `- {id: persona, name: persona, config: {prefix: ${prefix}}}`

/** A real host whose own presets are files that a test writes. */
export class Presets {
  readonly host: TestHost
  readonly client: Client
  readonly workspace: string

  private constructor(host: TestHost, client: Client, workspace: string) {
    this.host = host
    this.client = client
    this.workspace = workspace
  }

  static async start(documents: Record<string, string> = {}, options: TestHostOptions = {}): Promise<Presets> {
    const host = await startHost({
      ...options,
      patches: [{ id: 'llm-demo', config: { paceMs: 0 } }, ...((options.patches as never[]) ?? [])] as never,
    })
    const client = await host.connect()
    const made = new Presets(host, client, await host.workspace(client))
    for (const [id, text] of Object.entries(documents)) await made.write(id, text)
    return made
  }

  file(id: string): string {
    return join(this.host.dataDir, 'presets', `${id}.yml`)
  }

  /** Writes a document and has the host read it; resolves once every tab could know. */
  async write(id: string, text: string): Promise<void> {
    await writeFile(this.file(id), text)
    await this.reload()
  }

  async remove(id: string): Promise<void> {
    await rm(this.file(id))
    await this.reload()
  }

  async reload(): Promise<void> {
    await this.host.host.reload()
    await this.host.host.service('agentPresets')!.settled()
    await this.host.host.service('roster')!.refresh()
  }

  row(id: string): PresetRow | undefined {
    return this.host.host
      .service('roster')!
      .current()
      .find((row) => row.id === id)
  }

  async session(preset?: string): Promise<string> {
    const args = { workspace: this.workspace, selection: DEMO, ...(preset !== undefined && { preset }) }
    const { session } = await this.client.command('session.create', args)
    await this.client.attach(session)
    return session
  }

  async turn(session: string, turn: number, client = this.client): Promise<void> {
    await client.command('session.prompt', { session, text: 'go' })
    await client.turnEnd(session, turn)
  }

  /** The next status frame of a session after frame `from`. */
  async status(session: string, from: number, wanted: (frame: Status) => boolean = () => true): Promise<Status> {
    const found = await this.client.until(
      (frame) => frame.t === 'writer' && frame.session === session && wanted(frame),
      from,
    )
    return found as Status
  }
}

export type Status = Extract<ServerFrame, { t: 'writer' }>
