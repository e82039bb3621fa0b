import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { draft, type Draft, type Header } from '../wire/events.ts'
import type { Block, Message } from '../wire/messages.ts'
import { newHeader } from './store.ts'

/** Material for tests of logs and folds: short ways to write what a turn logs. */
export const header = (fields: Partial<Header> = {}): Header =>
  newHeader({ id: 's1', createdAt: Date.UTC(2026, 10, 30), writer: 'test', ...fields })

export const message = (id: string, text: string, role: Message['role'] = 'user'): Message => ({
  id,
  role,
  content: [{ type: 'text', text }],
  source: role === 'assistant' ? { kind: 'model', provider: 'p', model: 'm' } : { kind: 'user' },
})

export const userMessage = (id: string, text = `prompt ${id}`, at = { turn: 1, step: 1 }): Draft<'user/message'> =>
  draft('user/message', { ...at, message: message(id, text) })

export const answer = (id: string, content: Block[], at = { turn: 1, step: 1 }): Draft<'assistant/message'> =>
  draft('assistant/message', {
    ...at,
    message: { id, role: 'assistant', content, source: { kind: 'model', provider: 'p', model: 'm' } },
    stream: [],
  })

export const call = (id: string): Block => ({ type: 'tool-call', id, name: 'bash', arguments: '{}' })

export const toolCall = (callId: string, at = { turn: 1, step: 1 }): Draft<'tool/call'> =>
  draft('tool/call', { ...at, callId, name: 'bash', arguments: '{}' })

export const toolResult = (callId: string, at = { turn: 1, step: 1 }): Draft<'tool/result'> =>
  draft('tool/result', {
    ...at,
    message: {
      id: `result-${callId}`,
      role: 'user',
      content: [{ type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text: 'done' }] }],
      source: { kind: 'tool', callId },
    },
  })

export const requestHeader = (
  provider: string,
  model: string,
  extra: { reasoningEffort?: string; filled?: boolean; digest?: string } = {},
): Draft<'request/header'> =>
  draft('request/header', {
    header: {
      config: {
        provider,
        model,
        ...(extra.reasoningEffort !== undefined && { reasoningEffort: extra.reasoningEffort }),
      },
      ...(extra.filled && { adapterDefaults: { reasoningEffort: true as const } }),
    },
    compositionDigest: extra.digest ?? 'digest',
    reason: 'initial',
  })

/** A finished turn with one prompt and one answer. */
export const turn = (number: number, text = `turn ${number}`): Draft[] => {
  const at = { turn: number, step: 1 }
  return [
    draft('turn/start', { turn: number }),
    draft('step/start', at),
    userMessage(`u${number}`, text, at),
    requestHeader('p', 'm'),
    answer(`a${number}`, [{ type: 'text', text: `answer ${number}` }], at),
    draft('step/end', at),
    draft('turn/end', { turn: number, reason: { kind: 'completed' } }),
  ]
}

/** A fresh folder and its removal. */
export function temporary(): { root: string; remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), 'core-web-log-'))
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) }
}
