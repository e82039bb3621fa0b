import type { Block } from './messages.ts'

/**
 * Characters to a token by class of script: first guesses, good for a gauge and never for a bill. Other scripts (Cyrillic,
 * Arabic, signs) lie between the two.
 */
const ASCII = 4
const CJK = 1.3
const OTHER = 2
const JSON_TEXT = 3.3

/** Between what vendors ask for a picture of ordinary size: about 770 for 1024 x 1024, about 1,600 for the largest. */
export const IMAGE_TOKENS = 1200

/** Characters looked at: a text of any length costs the same time, and a longer one is taken to go on in the same way. */
const SAMPLE = 48

/** Estimated tokens of a text. */
export const textTokens = (text: string): number => estimate(text, ASCII)

/** Estimated tokens of JSON, which needs more of them for the same length. */
export const jsonTokens = (json: string): number => estimate(json, JSON_TEXT)

/** What a block adds to the history that is sent. Reasoning adds nothing: providers leave it out of later turns. */
export function blockTokens(block: Block): number {
  switch (block.type) {
    case 'text':
      return textTokens(block.text)
    case 'reasoning':
      return 0
    case 'image':
      return IMAGE_TOKENS
    case 'tool-call':
      return jsonTokens(block.arguments) + textTokens(block.name)
    case 'tool-result':
      return blocksTokens(block.content)
    default:
      return unknownTokens(block)
  }
}

export function blocksTokens(blocks: readonly Block[]): number {
  let sum = 0
  for (const block of blocks) sum += blockTokens(block)
  return sum
}

/** A log of a newer version may hold blocks that this one does not know. */
function unknownTokens(block: never): number {
  return jsonTokens(JSON.stringify(block))
}

function estimate(text: string, ascii: number): number {
  const { length } = text
  const stride = length <= SAMPLE ? 1 : Math.ceil(length / SAMPLE)
  let [seen, cjk, other] = [0, 0, 0]
  for (let at = 0; at < length; at += stride) {
    const code = text.charCodeAt(at)
    seen++
    if (code < 0x80) continue
    if (isCjk(code)) cjk++
    else other++
  }
  if (cjk === 0 && other === 0) return length / ascii
  return (((seen - cjk - other) / ascii + cjk / CJK + other / OTHER) * length) / seen
}

/** Kana, Han, Hangul and the full-width forms; surrogates of rarer Han and of emoji count as other, two to a character. */
const isCjk = (code: number): boolean =>
  (code >= 0x2e80 && code <= 0x9fff) ||
  (code >= 0xac00 && code <= 0xd7af) ||
  (code >= 0xf900 && code <= 0xfaff) ||
  (code >= 0xff00 && code <= 0xffef)
