import { expect, test } from 'vitest'
import { declare, presetHost, testHost, tool, CORE_ROWS, REGISTRY_ROW } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import { Numbers, memoryBook } from './numbers.ts'

test('a restart under the same declaration keeps the number, every other mount takes the next one', () => {
  const book = memoryBook()
  const first = new Numbers(book)
  expect([first.current('p'), first.take('p', 'a'), first.current('p')]).toEqual([0, 1, 1])
  expect([first.take('p', 'b'), first.take('p', 'a'), first.take('p', 'a')]).toEqual([2, 3, 4])
  expect(first.take('q', 'a')).toBe(1)
  const restarted = new Numbers(book)
  expect([restarted.current('p'), restarted.take('p', 'a'), restarted.take('p', 'a')]).toEqual([0, 4, 5])
  expect(new Numbers(book).take('p', 'other')).toBe(6)
  expect(book.last('p')).toEqual({ generation: 6, digest: 'other' })
})

test('F-01 generations keep their numbers over a restart of the host, and say whom they serve', async () => {
  const made = await presetHost(declare('standard', tool('alpha')))
  const presets = made.host.service('agentPresets')!
  const scope = {}
  await presets.mount(scope)
  const lease = await presets.retain('standard')
  const [info, ...others] = presets.generations('standard')
  expect(others).toEqual([])
  expect(info).toEqual({
    preset: 'standard',
    generation: 1,
    digest: presets.declarationDigest(scope),
    mountedAt: expect.any(Number),
    retired: false,
    users: 2,
    scopes: [scope],
  })
  expect(Math.abs(Date.now() - info!.mountedAt)).toBeLessThan(600_000)
  expect(lease.generation.key).not.toBe(scope)
  expect(presets.inspectCompositions(scope)).toHaveLength(1)
  await lease.release()
  await made.host.close()
  const again = await testHost(
    { [HOST_FILE]: CORE_ROWS + REGISTRY_ROW + declare('standard', tool('alpha')) },
    { dataDir: made.dataDir },
  )
  const restarted = again.host.service('agentPresets')!
  expect(restarted.generationOf('standard')).toBe(1)
  const changed = { id: 'standard', plugins: [{ id: 'beta', name: 'probe-tool', config: { name: 'beta' } }] }
  await again.host.ctx.loader.update('host:declare-standard', { config: changed })
  await (again.host.ctx.loader as unknown as { settled(): Promise<void> }).settled()
  await restarted.settled()
  expect([restarted.generationOf('standard'), restarted.generations().map(({ generation }) => generation)]).toEqual([
    2,
    [2],
  ])
})
