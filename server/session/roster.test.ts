import { expect, test } from 'vitest'
import { declare, presetHost, tool, withdraw } from '../boot-testing.ts'
import { plugin } from '../preset/kernel.ts'
import { Roster } from './roster.ts'
import type { Catalog } from '../preset/loader.ts'
import type { PresetRow } from '../wire/views.ts'

const next = (roster: Roster, wanted: (rows: PresetRow[]) => boolean): Promise<PresetRow[]> =>
  new Promise((resolve) => {
    if (wanted(roster.current())) return resolve(roster.current())
    const stop = roster.onChange((rows) => {
      if (!wanted(rows)) return
      stop()
      resolve(rows)
    })
  })

test('waiting is a state: a broken preset that only speaks of waiting is broken, a waiting one heals in the list', async () => {
  const speaking = plugin({
    name: 'speaking',
    apply() {
      throw new Error('waiting for nobody')
    },
  })
  const late = plugin({
    name: 'late-service',
    apply(ctx) {
      ctx.provide('exampleLateService', {})
    },
  })
  const catalog: Catalog = {
    speaking: { plane: 'preset', load: () => Promise.resolve(speaking) },
    'late-service': { plane: 'host', load: () => Promise.resolve(late) },
  }
  const made = await presetHost(
    declare('standard', '- {id: s, name: speaking}') + declare('heals', '- {id: n, name: probe-needs-late}'),
    { catalog },
  )
  const roster = new Roster(made.host.service('agentPresets')!)
  await roster.start()
  expect(roster.current().map(({ id, broken, waiting }) => ({ id, broken, waiting }))).toEqual([
    { id: 'heals', broken: 'n (probe-needs-late): waiting for exampleLateService', waiting: true },
    { id: 'standard', broken: 's (speaking): waiting for nobody', waiting: false },
  ])
  await made.host.ctx.loader.create({ name: 'late-service', id: 'late' } as never)
  const rows = await next(roster, ([row]) => row?.broken === undefined)
  expect(rows[0]).toMatchObject({ id: 'heals', generation: 1, own: false, services: [], tools: [] })
  expect(rows[0]).not.toHaveProperty('waiting')
  roster.close()
})

test('two hundred presets and a name with markup stand in the list as written; one that goes takes nothing along', async () => {
  const name = '<img src=x onerror=alert(1)> & "quotes"'
  const declared = Array.from({ length: 200 }, (_, index) =>
    declare(`p${String(index).padStart(3, '0')}`, tool(`tool-${index}`), `name: ${JSON.stringify(name)}`),
  )
  const made = await presetHost(declared.join(''))
  const roster = new Roster(made.host.service('agentPresets')!)
  await roster.start()
  const rows = roster.current()
  expect([rows.length, new Set(rows.map((row) => row.name)).size, rows[7]!.name]).toEqual([200, 1, name])
  expect(rows.every((row, index) => row.tools[0]?.name === `tool-${index}` && row.broken === undefined)).toBe(true)
  await withdraw(made, 'p100')
  const left = await next(roster, (now) => now.length === 199)
  expect(left.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).filter((id) => id !== 'p100'))
  roster.close()
})
