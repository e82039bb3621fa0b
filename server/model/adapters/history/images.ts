import type { ImageBlock, Message } from '../../../wire/messages.ts'

export interface ImageBudget {
  /** Images per request, and their bytes before base64. */
  count: number
  bytes: number
}

/** Providers refuse between 20 and 100 images or 20 to 50 MB of body; base64 adds a third. */
export const IMAGE_BUDGET: ImageBudget = { count: 20, bytes: 12 * 1024 * 1024 }

/**
 * The images that still go out; every other one becomes a placeholder (B62). Walks from the oldest on and, when the
 * budget overflows, drops the oldest down to half of it: the prefix then stays the same for many requests, which keeps
 * the provider's cache warm.
 */
export function keptImages(messages: readonly Message[], budget: ImageBudget = IMAGE_BUDGET): ReadonlySet<ImageBlock> {
  const kept: ImageBlock[] = []
  let bytes = 0
  const dropOldest = () => {
    bytes -= kept.shift()!.bytes
  }
  for (const image of messages.flatMap(imagesOf)) {
    kept.push(image)
    bytes += image.bytes
    if (kept.length <= budget.count && bytes <= budget.bytes) continue
    while (kept.length > 1 && (kept.length > budget.count / 2 || bytes > budget.bytes / 2)) dropOldest()
    if (bytes > budget.bytes) dropOldest()
  }
  return new Set(kept)
}

export function imagesOf(message: Message): ImageBlock[] {
  return message.content.flatMap((block) => {
    if (block.type === 'image') return [block]
    if (block.type !== 'tool-result') return []
    return block.content.filter((part) => part.type === 'image')
  })
}

export const placeholder = (image: ImageBlock, why: string): string =>
  `[image ${image.sha256.slice(0, 12)} (${image.mediaType}, ${image.bytes} bytes) left out: ${why}]`
