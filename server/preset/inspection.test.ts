import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CORE_ROWS, LIBRARY_ROW, REGISTRY_ROW, declare, presetHost, testHost, tool } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import type { TestHost } from '../boot-testing.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

const presetsOf = ({ host }: TestHost) => host.service('agentPresets')!
const LATE = '- {id: late, name: probe-needs-late}'
const BAD = '- {id: bad, name: probe-thrower}'
const OFF = '- {id: off, name: probe-thrower, disabled: true}'

describe('how a declared preset stands', () => {
  test.each([
    ['healthy, with a row that is off', `${tool('a')}\n${OFF}`, false],
    ['all that is missing is a service', `${tool('a')}\n${LATE}`, true],
    ['a service is missing and a row fails', `${LATE}\n${BAD}`, false],
    ['a row fails', BAD, false],
    ['nothing in it', '[]', false],
  ])('%s', async (_name, rows, waiting) => {
    const made = await presetHost(declare('standard', tool('x')) + declare('mine', rows))
    expect(presetsOf(made).condition('mine')).toEqual({
      waiting,
      notices: [],
      own: false,
      file: join(made.rootDir, HOST_FILE),
    })
  })

  test('rows of no shape are broken and wait for nothing', async () => {
    const made = await presetHost(declare('standard', tool('x')) + declare('mine', '- 1'))
    expect(presetsOf(made).condition('mine')).toMatchObject({ waiting: false, notices: [] })
  })

  test('retired keys of its rows are told by row', async () => {
    const made = await presetHost(declare('standard', '- {id: voice, name: persona, config: {text: Hello}}'))
    expect(presetsOf(made).condition('standard').notices).toEqual([
      expect.stringMatching(/^row voice: the key text is retired, write prefix/),
    ])
  })

  test('a document of the data folder is its user’s own, and says what is wrong while the last good one runs', async () => {
    const made = await testHost({
      [HOST_FILE]: CORE_ROWS + REGISTRY_ROW + declare('standard', tool('x')) + LIBRARY_ROW,
    })
    const file = join(made.dataDir, 'presets', 'mine.yml')
    await made.write('data/presets/mine.yml', declare('mine', tool('y')))
    await made.host.reload()
    const own = { waiting: false, notices: [], own: true, file }
    await expect
      .poll(() =>
        presetsOf(made)
          .list()
          .map(({ id }) => id),
      )
      .toContain('mine')
    expect(presetsOf(made).condition('mine')).toEqual(own)
    await made.write('data/presets/mine.yml', '- {')
    await made.host.reload()
    expect(presetsOf(made).condition('mine')).toEqual({
      ...own,
      stale: expect.objectContaining({ line: 2, column: 1 }),
    })
  })
})

test('a composition names each running row’s module and the folder that it was looked up from', async () => {
  const made = await presetHost(
    declare(
      'standard',
      `${tool('a')}\n${OFF}\n- {id: g, name: cordis:group, isolate: {probeService: true}, config: [{id: p, name: probe-provider}]}`,
    ),
  )
  const [composition] = presetsOf(made).inspectCompositions()
  const module = (moduleName: string) => ({
    moduleName,
    baseUrl: expect.stringMatching(/^file:.*\/$/),
    useHostBase: false,
  })
  expect(composition).toEqual({
    id: 'standard',
    modules: [module('probe-tool'), module('probe-provider')],
    leakedServices: [],
  })
})

describe('a declaration is tried beside the running ones', () => {
  const trial = async (plugins: unknown, rows = tool('x')) => {
    const made = await presetHost(declare('standard', rows))
    const presets = presetsOf(made)
    const { baseUrl } = made.host.ctx
    const result = await presets.registry.trial(
      { id: 'mine', plugins: plugins as EntryOptions[] },
      baseUrl ? { baseUrl } : {},
    )
    expect(presets.list().map(({ id }) => id)).toEqual(['standard'])
    expect(presets.inspectCompositions().map(({ id }) => id)).toEqual(['standard'])
    return result
  }

  test('one that works has its rows and what it would send', async () => {
    const result = await trial([{ id: 'a', name: 'probe-tool', config: { name: 'alpha' } }])
    expect(result).toEqual({
      rows: [{ id: 'a', name: 'probe-tool', enabled: true, state: 'active' }],
      dry: expect.objectContaining({ tools: [expect.objectContaining({ name: 'alpha' })] }),
    })
  })

  test('rows of no shape are not mounted', async () => {
    expect(await trial('many')).toEqual({ rows: [], broken: 'plugins is not a list' })
  })

  test('two rows of one id cannot be mounted', async () => {
    const row = { id: 'a', name: 'probe-tool', config: { name: 'alpha' } }
    expect(await trial([row, row])).toEqual({ rows: [], broken: expect.stringContaining('two rows have the id a') })
  })

  test('one whose row fails says so by row, and is not assembled', async () => {
    expect(await trial([{ id: 'bad', name: 'probe-thrower' }])).toEqual({
      rows: [{ id: 'bad', name: 'probe-thrower', enabled: true, state: 'failed', problem: 'the probe gives up' }],
      broken: 'bad (probe-thrower): the probe gives up',
    })
  })

  test('one that waits is assembled without what is missing', async () => {
    const result = await trial([
      { id: 'a', name: 'probe-tool', config: { name: 'alpha' } },
      { id: 'late', name: 'probe-needs-late' },
    ])
    expect(result).toMatchObject({
      broken: expect.stringContaining('late (probe-needs-late): waiting for exampleLateService'),
      dry: { tools: [{ name: 'alpha' }] },
    })
    expect(result.rows).toHaveLength(2)
  })
})
