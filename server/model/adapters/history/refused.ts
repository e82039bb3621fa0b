import type { Message } from '../../../wire/messages.ts'
import type { Finish } from '../../port.ts'
import { imagesOf } from './images.ts'

/** Hashes of images, per route: those that went through once, and those that a provider refused. */
export interface ImageMemory {
  accepted: Set<string>
  refused: Set<string>
}

/**
 * Quarantines images that a provider refuses, so that one bad picture does not end every later turn (B62). Images that
 * went through once are never blamed.
 */
export function learnRefusals(finish: Finish, messages: readonly Message[], { accepted, refused }: ImageMemory): void {
  const blamed = finish.kind === 'error' && blamesImages(finish.failure)
  if (finish.kind === 'error' && !blamed) return
  for (const { sha256 } of messages.flatMap(imagesOf)) {
    if (blamed && !accepted.has(sha256)) refused.add(sha256)
    if (!blamed && !refused.has(sha256)) accepted.add(sha256)
  }
}

const blamesImages = ({ status, message }: { status?: number; message: string }): boolean =>
  status === 413 || ((status === 400 || status === 422) && /image|media|picture/i.test(message))
