/** Session ids are path parts, never secrets. */
export const SESSION_ID = /^[A-Za-z0-9_-]{1,128}$/

export const isSessionId = (text: string): boolean => SESSION_ID.test(text)

/** UUIDv7: sortable by creation time (RFC 9562, section 5.7). `now` in ms since the epoch, `random` gives 10 bytes. */
export function newId(
  now: number = Date.now(),
  random: Uint8Array = crypto.getRandomValues(new Uint8Array(10)),
): string {
  const bytes = new Uint8Array(16)
  let time = now
  for (let index = 5; index >= 0; index--) {
    bytes[index] = time % 256
    time = Math.floor(time / 256)
  }
  bytes.set(random.subarray(0, 10), 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
