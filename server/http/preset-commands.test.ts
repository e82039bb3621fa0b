import { expect, test } from 'vitest'
import { presetHandlers } from './preset-commands.ts'
import type { PresetHandlersOptions } from './preset-commands.ts'

/** Handlers over parts that note what they were asked. */
function heard() {
  const calls: unknown[][] = []
  const note =
    (name: string, answer: unknown) =>
    async (...args: unknown[]): Promise<never> => {
      calls.push([name, ...args])
      return answer as never
    }
  let chosen: string | undefined
  const library: PresetHandlersOptions['library'] = {
    check: note('check', { diagnostics: [] }),
    copy: note('copy', { preset: 'b' }),
    import: note('import', { preset: 'b' }),
    save: note('save', { preset: 'b', digest: 'd', generation: 2 }),
    describe: note('describe', { preset: 'b' }),
    delete: note('delete', { preset: 'b', text: 't' }),
  }
  const handlers = presetHandlers({
    library,
    presets: { saveDefault: async (id) => void (chosen = id), defaultId: () => chosen ?? 'standard' },
    sessions: { moveBlank: note('moveBlank', { moved: ['s'], left: [] }) },
  })
  return { handlers, calls }
}

test('each command reaches its part with its arguments, and the answer comes back', async () => {
  const { handlers, calls } = heard()
  const answers = [
    await handlers['preset.check']({ text: 't', preset: 'a', trial: false }),
    await handlers['preset.copy']({ from: 'a', id: 'b', name: 'B' }),
    await handlers['preset.import']({ text: 't', id: 'b' }),
    await handlers['preset.save']({ preset: 'b', text: 't', base: 'd0' }),
    await handlers['preset.describe']({ preset: 'b', name: null, order: 3 }),
    await handlers['preset.delete']({ preset: 'b' }),
    await handlers['preset.move-blank']({ preset: 'b' }),
  ]
  expect(calls).toEqual([
    ['check', 't', 'a', false],
    ['copy', 'a', 'b', 'B'],
    ['import', 't', 'b'],
    ['save', 'b', 't', 'd0'],
    ['describe', 'b', { name: null, order: 3 }],
    ['delete', 'b'],
    ['moveBlank', 'b'],
  ])
  expect(answers.at(-1)).toEqual({ moved: ['s'], left: [] })
  expect(answers[3]).toEqual({ preset: 'b', digest: 'd', generation: 2 })
})

test('the default is set, and given back to the deployment with null', async () => {
  const { handlers } = heard()
  expect(await handlers['preset.default']({ preset: 'mine' })).toEqual({ preset: 'mine' })
  expect(await handlers['preset.default']({ preset: null })).toEqual({ preset: 'standard' })
})
