import { create } from 'zustand'
import type { Probe, ProbeVerdict } from '../../../server/wire/models.ts'
import { run } from '../store/actions.ts'

type Tested = { state: 'running'; last?: Probe } | { state: 'done'; last: Probe }

/** Results of connection tests by provider, for as long as the page lives: a row that was closed still says what came of it. */
const useProbes = create<Readonly<Record<string, Tested>>>()(() => ({}))

export const useTested = (provider: string): Tested | undefined => useProbes((probes) => probes[provider])

/** A result that no longer holds, because the key or the address is another now. */
export const forgetProbe = (provider: string): void => {
  const { [provider]: _, ...others } = useProbes.getState()
  useProbes.setState(others, true)
}

const place = (provider: string): string => `provider:${provider}`

export async function testConnection(provider: string, model: string): Promise<void> {
  const before = useProbes.getState()[provider]?.last
  useProbes.setState({ [provider]: { state: 'running', ...(before && { last: before }) } })
  const args = { provider, ...(model !== '' && { model }) }
  const outcome = await run('provider.test', args, {
    place: place(provider),
    retry: () => void testConnection(provider, model),
  })
  if (outcome.ok) return useProbes.setState({ [provider]: { state: 'done', last: outcome.result } })
  if (before) return useProbes.setState({ [provider]: { state: 'done', last: before } })
  forgetProbe(provider)
}

/** Where the cure of a failed test lies. */
export type Cure = 'key' | 'address' | 'model' | 'waits' | 'body' | 'again' | 'none'

const CURES: Readonly<Record<ProbeVerdict, Cure>> = {
  works: 'none',
  'no-key': 'key',
  'bad-key': 'key',
  auth: 'key',
  dns: 'address',
  tls: 'address',
  refused: 'address',
  'not-an-api': 'address',
  unreachable: 'address',
  timeout: 'waits',
  quota: 'none',
  'rate-limit': 'again',
  model: 'model',
  request: 'body',
  server: 'again',
  unknown: 'again',
}

export const cureOf = (verdict: ProbeVerdict): Cure => CURES[verdict]
