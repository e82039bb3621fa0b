import { mkdtempSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ControlDir, newNonce } from '../../server/terminal/control.ts'
import { shellEnvironment } from '../../server/terminal/environment.ts'
import { callLine, FENCE, FENCE_END, redirections } from '../../server/terminal/line.ts'
import { openPty, type Pty } from '../../server/terminal/pty.ts'
import { BASH } from '../../server/terminal/shell.ts'
import type { EventType } from '../../server/wire/events.ts'
import { startHost, type TestHost } from '../host.ts'
import type { Reply } from '../mock-llm/reply.ts'
import { figure, median, ROUNDS, timed, type Group } from './figure.ts'
import { addMock, mockProcess, mockSession, onLane, scratch, type MockProcess } from './rig.ts'

const TURNS = 10
/** Turns ahead of the count: the first call of a session starts its shell. */
const WARM = 3

/** A shell on a terminal and nothing else: types the line that a call types and waits for its end fence. */
class BarePty {
  readonly #control = ControlDir.open()
  readonly #pty: Pty
  #said = ''
  #look: (() => void) | undefined

  constructor(cwd: string) {
    this.#pty = openPty(BASH, {
      cwd,
      env: { ...shellEnvironment(), PS1: '', PS2: '', TERM: 'dumb', HISTFILE: '/dev/null' },
      onData: (chunk) => {
        this.#said = (this.#said + chunk.toString('latin1')).slice(-4096)
        this.#look?.()
      },
    })
  }

  run(command: string): Promise<void> {
    const nonce = newNonce()
    this.#control.write(nonce, command)
    return new Promise((resolve) => {
      this.#look = () => {
        if (!this.#said.includes(`${FENCE}${nonce}${FENCE_END}`)) return
        this.#look = undefined
        this.#control.clear()
        resolve()
      }
      this.#pty.write(callLine(this.#control, nonce, { previous: 0, redirect: redirections('null') }))
    })
  }

  async close(): Promise<void> {
    this.#pty.write('exit\n')
    await this.#pty.exited
    this.#control.remove()
  }
}

interface Times {
  call: number
  step: number
}

/** Runs one turn of two steps, the first with one call, and reads the times off the log as it commits. */
async function toolTurn(host: TestHost, session: string): Promise<Times> {
  const sessions = host.host.service('sessions')!
  const live = sessions.live(session)!
  const at = new Map<EventType, number>()
  const done = Promise.withResolvers<void>()
  const undo = live.log.observe((events) => {
    for (const { type } of events) {
      if (!at.has(type)) at.set(type, performance.now())
      if (type === 'turn/end') done.resolve()
    }
  })
  await sessions.prompt(session, onLane('tool'), 'queue')
  await done.promise
  undo()
  await live.agent.whenIdle()
  const between = (from: EventType, to: EventType) => (at.get(to) ?? NaN) - (at.get(from) ?? NaN)
  return { call: between('tool/call', 'tool/result'), step: between('turn/start', 'step/end') }
}

async function directAnswer(mock: MockProcess): Promise<void> {
  const body = JSON.stringify({ model: 'mock-model', stream: true, messages: [{ role: 'user', content: 'go' }] })
  const response = await fetch(`${mock.url}/v1/chat/completions`, { method: 'POST', body })
  await response.text()
}

/** What a step cannot do without: one answer of the model, one typed line, one write that is synced. */
async function leastStep(mock: MockProcess, pty: BarePty, folder: string): Promise<number> {
  const file = await open(join(folder, 'floor.jsonl'), 'a')
  const ms = await timed(async () => {
    await file.write('x'.repeat(1000))
    await file.datasync()
    await directAnswer(mock)
    await pty.run('true')
  })
  await file.close()
  return ms
}

export const group: Group = async () => {
  const { root, remove } = scratch()
  const call: Reply = { toolCalls: [{ name: 'bash', arguments: '{"command":"true"}' }] }
  const tool = Array.from({ length: (ROUNDS + 1) * TURNS + WARM }, () => [call, { text: 'Done.' }]).flat()
  const mock = await mockProcess(root, { tool, '*': [{ text: 'Done.' }] })
  const host = await startHost()
  const client = await host.connect()
  await addMock(client, mock)
  const session = await mockSession(client, await host.workspace(client))
  const pty = new BarePty(root)
  await pty.run('set +o history; stty -echo -ixon </dev/tty')
  for (let n = 0; n < WARM; n++) await toolTurn(host, session)
  const calls: number[] = []
  const steps: number[] = []
  const lines: number[] = []
  const least: number[] = []
  const folder = mkdtempSync(join(host.dataDir, 'floor-'))
  for (let round = 0; round < ROUNDS; round++) {
    const turns: Times[] = []
    const typed: number[] = []
    const leasts: number[] = []
    for (let n = 0; n < TURNS; n++) {
      turns.push(await toolTurn(host, session))
      typed.push(await timed(() => pty.run('true')))
      leasts.push(await leastStep(mock, pty, folder))
    }
    calls.push(median(turns.map((turn) => turn.call)))
    steps.push(median(turns.map((turn) => turn.step)))
    lines.push(median(typed))
    least.push(median(leasts))
  }
  await pty.close()
  await client.close()
  await host.remove()
  await mock.stop()
  remove()
  return [
    figure({
      name: 'bash true, whole tool pipeline',
      unit: 'ms',
      value: median(calls),
      floor: median(lines),
      floorIs: 'the same typed line in a bare terminal',
      judged: 'over',
      target: 3,
    }),
    figure({
      name: 'one step: answer, call, barriers',
      unit: 'ms',
      value: median(steps),
      floor: median(least),
      floorIs: 'one synced write, one direct answer and one typed line',
      judged: 'value',
      target: 8,
    }),
  ]
}
