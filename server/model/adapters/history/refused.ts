import type { Message } from '../../../wire/messages.ts'
import type { StreamEvent } from '../../port.ts'
import { imagesOf } from './images.ts'

/**
 * Quarantines images that a provider refuses, so that one bad picture does not end every later turn (B62). Images that
 * went through once are never blamed.
 */
export async function* watchRefusals(
  stream: AsyncIterable<StreamEvent>,
  messages: readonly Message[],
  memory: { accepted: Set<string>; refused: Set<string> },
): AsyncGenerator<StreamEvent> {
  for await (const event of stream) {
    if (event.t === 'end') remember(event.finish, messages, memory)
    yield event
  }
}

function remember(
  finish: Extract<StreamEvent, { t: 'end' }>['finish'],
  messages: readonly Message[],
  { accepted, refused }: { accepted: Set<string>; refused: Set<string> },
): void {
  const hashes = messages.flatMap(imagesOf).map(({ sha256 }) => sha256)
  if (finish.kind !== 'error') {
    for (const hash of hashes) if (!refused.has(hash)) accepted.add(hash)
    return
  }
  const { status, message } = finish.failure
  const blamed = status === 413 || ((status === 400 || status === 422) && /image|media|picture/i.test(message))
  if (!blamed) return
  for (const hash of hashes) if (!accepted.has(hash)) refused.add(hash)
}
