import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '../client.ts'
import { ROOT } from '../host.ts'
import type { Reply } from '../mock-llm/reply.ts'

/** A fresh folder and its removal. */
export function scratch(): { root: string; remove: () => void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-bench-')))
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** Resident memory of a process in MB. */
export function rssOf(pid: number): number {
  const status = `/proc/${pid}/status`
  const kilobytes = existsSync(status)
    ? /VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kilobytes) / 1024
}

export interface MockProcess {
  url: string
  stop(): Promise<void>
}

/** The instant mock as a process of its own, so that its work is nobody's CPU here; the last reply of a lane repeats. */
export async function mockProcess(folder: string, lanes: { [lane: string]: Reply[] }): Promise<MockProcess> {
  const script = join(folder, 'replies.json')
  writeFileSync(script, JSON.stringify(lanes))
  const child = spawn(process.execPath, [join(ROOT, 'e2e/mock-llm/main.ts'), '--script', script, '--repeat-last'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      if (said.length > 4096) return
      said += data.toString()
      const found = /"event":"ready","url":"([^"]+)"/.exec(said)
      if (found) resolve(found[1]!)
    })
    void gone.then(() => reject(new Error(`the mock ended: ${said}`)))
  })
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

const MODEL = { provider: 'bench', model: 'mock-model', alsoDefault: false } as const

/** Makes the mock a provider of the host. */
export async function addMock(
  client: Client,
  mock: Pick<MockProcess, 'url'>,
  id: string = MODEL.provider,
): Promise<void> {
  await client.command('provider.save', {
    id,
    label: 'Bench',
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    key: 'none',
    options: { models: [MODEL.model] },
  })
}

/** A session on the mock. */
export async function mockSession(
  client: Client,
  workspace: string,
  preset = 'minimal',
  provider: string = MODEL.provider,
): Promise<string> {
  const { session } = await client.command('session.create', { workspace, preset, selection: { ...MODEL, provider } })
  return session
}

const PARAGRAPH =
  'The loop reads one line at a time and keeps the sum of what it has seen so far. When the line is empty it stops, and what ' +
  'it prints last is the total. Nothing else is written, so the output of two runs can be compared byte by byte.\n\n'
const EXTRA =
  '- `read` takes one line\n- **add** keeps the sum\n- the last line is printed\n\n' +
  '```ts\nfor (const line of lines) total += Number(line)\nconsole.log(total)\n```\n\n'

/** About `length` characters as a model writes them: paragraphs, lists, code. */
export function prose(length: number): string {
  let text = ''
  for (let n = 0; text.length < length; n++) text += n % 4 === 3 ? EXTRA : PARAGRAPH
  return text.slice(0, length)
}

/** The answer of the streaming figures: 20,000 deltas of five characters. */
export const DELTAS = 20_000
export const bigReply = (): Reply => ({ text: prose(DELTAS * 5), chunk: 5 })
/** A prompt that the mock answers from one of its lanes. */
export const onLane = (lane: string, text = 'go'): string => `${text} [[lane:${lane}]]`
