import type { Message } from '../../../wire/messages.ts'
import type { Failure, Finish } from '../../port.ts'
import { imagesOf } from './images.ts'

/** Per route: hashes of images that went through once, and what a provider refused: hashes, and keys of `replayKey`. */
export interface ImageMemory {
  accepted: Set<string>
  refused: Set<string>
}

/** Under which the replay data of an answer is refused. */
export const replayKey = ({ id }: Pick<Message, 'id'>): string => `replay ${id}`

/**
 * Quarantines what a provider refuses, so that one bad part does not end every later turn: images (B62), and signatures
 * that another model, key or conversation made. Images that went through once are never blamed; signatures are, since a
 * provider may bind them to all that stands before them.
 */
export function learnRefusals(finish: Finish, messages: readonly Message[], { accepted, refused }: ImageMemory): void {
  if (finish.kind === 'aborted') return
  if (finish.kind === 'error' && blamesSignatures(finish.failure)) {
    for (const message of messages) if (message.source.kind === 'model') refused.add(replayKey(message))
    return
  }
  const blamed = finish.kind === 'error' && blamesImages(finish.failure)
  if (finish.kind === 'error' && !blamed) return
  for (const { sha256 } of messages.flatMap(imagesOf)) {
    if (blamed && !accepted.has(sha256)) refused.add(sha256)
    if (!blamed && !refused.has(sha256)) accepted.add(sha256)
  }
}

const blamesImages = ({ status, message }: Failure): boolean =>
  status === 413 || ((status === 400 || status === 422) && /image|media|picture/i.test(message))

const SIGNED = /signature|encrypted[ _]content/i
const UNREADABLE = /invalid|corrupt|bound to|could not be (verified|decrypted|parsed)/i

const blamesSignatures = ({ status, message }: Failure): boolean =>
  status === 400 && SIGNED.test(message) && UNREADABLE.test(message)
