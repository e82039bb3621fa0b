import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { boot, type BootOptions, type Host } from '../server/boot.ts'
import { parseFlags } from '../server/flags.ts'
import { Client, addressOf } from './client.ts'

export const ROOT = join(import.meta.dirname, '..')

export interface TestHost {
  host: Host
  url: string
  base: string
  token: string
  dataDir: string
  /** A fresh folder, registered as a workspace by `workspace()`. */
  work: string
  connect(): Promise<Client>
  workspace(client: Client): Promise<string>
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** Closes the host; the data folder stays for `startHost({ dataDir })`. */
  close(): Promise<void>
  /** Closes and removes everything. */
  remove(): Promise<void>
}

export type TestHostOptions = Partial<Pick<BootOptions, 'catalog' | 'patches' | 'env' | 'rootDir'>> & {
  dataDir?: string
  work?: string
  args?: string[]
}

/** The real host in this process: shipped rows and presets, a data folder of its own, any free port. */
export async function startHost(options: TestHostOptions = {}): Promise<TestHost> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-')))
  const dataDir = options.dataDir ?? join(root, 'data')
  const work = options.work ?? join(root, 'work')
  mkdirSync(work, { recursive: true })
  const env = { HOME: root, PATH: process.env['PATH'], ...options.env } as NodeJS.ProcessEnv
  const parsed = parseFlags(['serve', '--port', '0', '--no-open', '--data', dataDir, ...(options.args ?? [])], {}, root)
  if (parsed.kind === 'refused') throw new Error(parsed.message)
  const host = await boot({
    rootDir: options.rootDir ?? ROOT,
    dataDir,
    flags: parsed.flags,
    env,
    ...(options.catalog && { catalog: options.catalog }),
    ...(options.patches && { patches: options.patches }),
  })
  const web = host.service('web')
  if (!web) {
    await host.close()
    throw new Error(`the host did not listen: ${JSON.stringify(host.report.rows, null, 1)}`)
  }
  const { base, token = '' } = addressOf(web.url)
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, base), { headers: { authorization: `Bearer ${token}`, ...headers } })
  return {
    host,
    url: web.url,
    base,
    token,
    dataDir,
    work,
    get,
    connect: () => Client.connect(web.url),
    workspace: async (client) => (await client.command('workspace.add', { path: work, confirmed: true })).workspace.id,
    close: () => host.close(),
    async remove() {
      await host.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
