import { newHeader, SessionStore } from '../../server/log/store.ts'
import { draft, type Draft } from '../../server/wire/events.ts'
import { newId } from '../../server/wire/ids.ts'
import type { Block, Message } from '../../server/wire/messages.ts'
import { prose } from './rig.ts'

const model = { kind: 'model', provider: 'bench', model: 'mock-model' } as const

const said = (content: Block[]): Message => ({ id: newId(), role: 'assistant', content, source: model })

/** Eleven events of one turn as a host logs it: a prompt, a call with its output, an answer of a few paragraphs. */
function turn(number: number): Draft[] {
  const first = { turn: number, step: 1 }
  const second = { turn: number, step: 2 }
  const call = { id: `call-${number}`, name: 'bash', arguments: '{"command":"cat notes.txt"}' }
  const prompt: Message = {
    id: newId(),
    role: 'user',
    content: [{ type: 'text', text: `Read the notes again, part ${number}.` }],
    source: { kind: 'user' },
  }
  const result: Message = {
    id: newId(),
    role: 'user',
    content: [
      { type: 'tool-result', toolCallId: call.id, content: [{ type: 'text', text: `total ${number}\n`.repeat(8) }] },
    ],
    source: { kind: 'tool', callId: call.id },
  }
  return [
    draft('turn/start', { turn: number }),
    draft('step/start', first),
    draft('user/message', { ...first, message: prompt }),
    draft('assistant/message', { ...first, message: said([{ type: 'tool-call', ...call }]), stream: [] }),
    draft('tool/call', { ...first, callId: call.id, name: call.name, arguments: call.arguments }),
    draft('tool/result', { ...first, message: result, ms: 4 }),
    draft('step/end', first),
    draft('step/start', second),
    draft('assistant/message', { ...second, message: said([{ type: 'text', text: prose(900) }]), stream: [] }),
    draft('step/end', second),
    draft('turn/end', { turn: number, reason: { kind: 'completed' } }),
  ]
}

export interface WrittenSession {
  id: string
  /** Its file's whole text. */
  events: number
}

/** Writes a finished session of at least `count` events into a data folder that no host has open. */
export async function writeHistory(dataDir: string, cwd: string, count: number): Promise<WrittenSession> {
  const store = new SessionStore(dataDir, { allowNetworkDisk: true })
  await store.prepare()
  const header = newHeader({ id: newId(), createdAt: Date.now(), writer: 'bench', cwd, agentPreset: 'minimal' })
  const log = store.create(header)
  log.append(draft('session/title', { title: `History of ${count}`, source: 'user' }))
  for (let number = 1; log.events.length < count; number++) log.append(...turn(number))
  await log.barrier()
  const events = log.events.length
  await log.close()
  await store.close()
  return { id: header.id, events }
}
