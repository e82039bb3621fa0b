import type { Json } from '../wire/json.ts'

const HIDDEN = '[redacted]'
/** A shorter value would black out ordinary words. */
const MIN_LENGTH = 8

/** Headers whose values are never shown. */
const HEADERS = 'proxy-authorization|authorization|set-cookie|cookie|x-api-key|api-key|x-goog-api-key'
const HEADER_NAME = new RegExp(`^(${HEADERS})$`, 'i')

/** Each keeps what tells a reader which kind of secret stood there. */
const SHAPES: readonly (readonly [pattern: RegExp, kept: string])[] = [
  [
    new RegExp(`\\b(${HEADERS})\\b(["']?\\s*[:=,]\\s*["']?)(?:[a-z]+ )?[^\\s"',;]{12,}(?:;[^\\r\\n"']*)?`, 'gi'),
    `$1$2${HIDDEN}`,
  ],
  [/\b(bearer[ .])[A-Za-z0-9._~+/=-]{12,}/gi, `$1${HIDDEN}`],
  [/\b(sk-)[A-Za-z0-9_-]{16,}/g, `$1${HIDDEN}`],
  [/([?&#](?:access_)?(?:token|code|key|api_key)=)[^&\s"'<>#]+/gi, `$1${HIDDEN}`],
]

export type SecretSource = () => Iterable<string>

/**
 * Takes secrets out of what is written for people: known values exactly, whatever they look like, and the usual shapes of
 * headers and keys. It never throws: a source that fails costs its own values only.
 */
export class Redactor {
  readonly #sources: SecretSource[] = []
  /** How many places were blacked out so far. */
  count = 0

  constructor(...sources: SecretSource[]) {
    this.#sources.push(...sources)
  }

  /** Asked again at each use: a key may be set at any time. */
  know(source: SecretSource): void {
    this.#sources.push(source)
  }

  text(text: string): string {
    return this.#shapes(this.#exact(text, this.#known()))
  }

  /** The same in every text of a JSON value, and whole values under the names of secret headers. */
  value<T>(value: T): T {
    return this.#value(value as Json, this.#known()) as T
  }

  #value(value: Json, known: readonly string[]): Json {
    if (typeof value === 'string') return this.#shapes(this.#exact(value, known))
    if (Array.isArray(value)) return value.map((entry) => this.#value(entry, known))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => {
        if (!HEADER_NAME.test(key) || typeof entry !== 'string' || entry === '') return [key, this.#value(entry, known)]
        this.count++
        return [key, HIDDEN]
      }),
    )
  }

  #known(): string[] {
    const values = new Set<string>()
    for (const source of this.#sources) {
      try {
        for (const value of source())
          if (value.length >= MIN_LENGTH) for (const form of formsOf(value)) values.add(form)
      } catch {
        // A damaged file of keys is reported where it is read; the shapes still hold.
      }
    }
    // A value that holds another one must go first.
    return [...values].sort((a, b) => b.length - a.length)
  }

  #exact(text: string, known: readonly string[]): string {
    let shown = text
    for (const value of known) {
      const parts = shown.split(value)
      this.count += parts.length - 1
      shown = parts.join(HIDDEN)
    }
    return shown
  }

  #shapes(text: string): string {
    let shown = text
    for (const [pattern, kept] of SHAPES) {
      shown = shown.replace(pattern, (whole: string, ...groups: unknown[]) => {
        if (whole.includes(HIDDEN)) return whole
        this.count++
        return kept.replace(/\$(\d)/g, (_, at: string) => String(groups[Number(at) - 1]))
      })
    }
    return shown
  }
}

/** As it stands, inside JSON, and inside an address. */
function formsOf(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]
}
