import type { LocalServer } from '../wire/models.ts'
import { directFetch } from './dispatch.ts'
import type { Fetch } from './transport.ts'

const LOOK_MS = 800
const MAX_MODELS = 200
const MAX_CHARS = 1024 * 1024

/** Model servers that people run on their own machine, on the ports their manuals name. */
export const LOCAL_SERVERS: readonly { name: string; port: number }[] = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
  { name: 'vLLM', port: 8000 },
  { name: 'SGLang', port: 30000 },
]

/** Looks at 127.0.0.1 only, at all ports at once, 800 ms each. Never rejects; the order is that of `ports`. */
export function findLocalServers({
  fetch = directFetch('none'),
  ports = LOCAL_SERVERS,
}: { fetch?: Fetch; ports?: readonly { name: string; port: number }[] } = {}): Promise<LocalServer[]> {
  return Promise.all(
    ports.map(async ({ name, port }) => {
      const baseURL = `http://127.0.0.1:${port}/v1`
      return { name, port, baseURL, ...(await look(fetch, `${baseURL}/models`)) }
    }),
  )
}

async function look(fetch: Fetch, url: string): Promise<Pick<LocalServer, 'state' | 'models'>> {
  let response: Response
  try {
    const accept = { accept: 'application/json' }
    response = await fetch(url, { headers: accept, redirect: 'manual', signal: AbortSignal.timeout(LOOK_MS) })
  } catch {
    return { state: 'nothing', models: [] } // refused or silent: nobody to talk to
  }
  try {
    const body = (await limited(response)) as { data?: unknown; error?: unknown } | null
    // While a model is loaded, and where a key is wanted, the list is an error in the words of the API.
    if (!response.ok) return { state: body?.error === undefined ? 'not-an-api' : 'no-model', models: [] }
    // Ollama without a model says null.
    if (body?.data === null) return { state: 'no-model', models: [] }
    if (!Array.isArray(body?.data)) return { state: 'not-an-api', models: [] }
    const rows = body.data as ({ id?: unknown } | null)[]
    const ids = rows.map((row) => row?.id).filter((id) => typeof id === 'string' && id !== '') as string[]
    return { state: ids.length > 0 ? 'ready' : 'no-model', models: ids.slice(0, MAX_MODELS) }
  } catch {
    return { state: 'not-an-api', models: [] } // something listens, and it speaks of something else
  }
}

async function limited(response: Response): Promise<unknown> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > MAX_CHARS) throw new Error('more than a list of models')
  }
  return JSON.parse(text)
}
