import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DryRun } from '../../../server/wire/presets.ts'
import { compareRuns, textHunks } from './compare.ts'

const run = (changes: Partial<DryRun> = {}): DryRun => ({
  sections: [
    { name: 'persona', order: 0, owner: 'persona', scope: 'preset', fate: 'shown', text: 'You are brief.' },
    { name: 'date', order: 5, owner: 'date', scope: 'global', fate: 'discarded', by: 'persona' },
  ],
  contexts: [],
  tools: [{ name: 'bash', description: 'Runs a command.', parameters: {}, owner: 'bash' }],
  services: ['fs'],
  tokens: { prompt: 10, tools: 20 },
  ...changes,
})

test('two equal runs differ in nothing; an owner alone is no difference', () => {
  expect(compareRuns(run(), run()).same).toBe(true)
  const moved = run({ tools: [{ name: 'bash', description: 'Runs a command.', parameters: {}, owner: 'shell' }] })
  expect(compareRuns(run(), moved).same).toBe(true)
})

test('sections that are sent, tools, services and tokens are compared', () => {
  const after = run({
    sections: [
      { name: 'persona', order: 0, owner: 'persona', scope: 'preset', fate: 'shown', text: 'You are thorough.' },
      { name: 'date', order: 5, owner: 'date', scope: 'global', fate: 'shown', text: 'Today.' },
    ],
    tools: [
      { name: 'bash', description: 'Runs one command.', parameters: {} },
      { name: 'read', description: 'Reads.', parameters: {} },
    ],
    services: [],
    tokens: { prompt: 12, tools: 33 },
  })
  const found = compareRuns(run(), after)
  expect(found.sections.map(({ name, kind }) => [name, kind])).toEqual([
    ['persona', 'changed'],
    ['date', 'added'],
  ])
  expect(found.sections[0]?.hunks[0]?.lines).toEqual(['-You are brief.', '+You are thorough.'])
  expect(found.tools).toEqual({ added: ['read'], removed: [], changed: ['bash'] })
  expect(found.services).toEqual({ added: [], removed: ['fs'] })
  expect(found.tokens).toEqual({ before: 30, after: 45 })
  expect(found.same).toBe(false)
})

test('hunks carry every change and number their lines right', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const old = before === '' ? [] : before.split('\n')
      const next: string[] = []
      let at = 0
      for (const hunk of textHunks(before, after)) {
        next.push(...old.slice(at, hunk.oldStart - 1))
        expect(next.length).toBe(hunk.newStart - 1)
        at = hunk.oldStart - 1
        for (const line of hunk.lines) {
          if (!line.startsWith('-')) next.push(line.slice(1))
          if (!line.startsWith('+')) expect(old[at++]).toBe(line.slice(1))
        }
      }
      expect([...next, ...old.slice(at)].join('\n')).toBe(after)
    }),
  )
})
