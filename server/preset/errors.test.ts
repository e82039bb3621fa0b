import { expect, test } from 'vitest'
import { ActivationCycleError, invalid, locked, notFound } from './errors.ts'
import { changedMeanwhile, editing, notAnId, notOwn, notSaved, refused, taken } from './library-errors.ts'
import type { CoreError } from '../wire/errors.ts'
import type { Diagnostic } from '../wire/presets.ts'

const at = (line: number, severity: Diagnostic['severity'], message: string): Diagnostic => ({
  severity,
  message,
  line,
  column: 1,
})
const FOUND = [at(2, 'warning', 'an old key'), at(5, 'error', 'no such row'), at(7, 'error', 'no list')]

test.for<[string, CoreError, string, string, object]>([
  [
    'unknown',
    notFound('a"b', ['x', 'y']),
    'agent-preset/not-found',
    'There is no preset "a\\"b". Available: x, y.',
    { agentPreset: 'a"b', available: ['x', 'y'] },
  ],
  [
    'unknown where there is none',
    notFound('a', []),
    'agent-preset/not-found',
    'There is no preset "a". Available: none.',
    { agentPreset: 'a', available: [] },
  ],
  [
    'of no use',
    invalid('a', 'it leaks'),
    'agent-preset/invalid',
    'The preset "a" cannot be used: it leaks',
    { agentPreset: 'a', reason: 'it leaks' },
  ],
  [
    'locked',
    locked('s1', 'a'),
    'agent-preset/locked',
    'This session has already had a turn, so its preset stays. Start or fork a session to use another one.',
    { sessionId: 's1', agentPreset: 'a' },
  ],
  [
    'changed meanwhile',
    changedMeanwhile('a', 'd1'),
    'agent-preset/changed-meanwhile',
    'The document of a was changed by somebody else since you opened it. Load it again, or copy your text first.',
    { agentPreset: 'a', digest: 'd1' },
  ],
  [
    'shipped',
    notOwn('a'),
    'agent-preset/not-own',
    'The preset a is part of this program and cannot be changed. Copy it first, then change the copy.',
    { agentPreset: 'a' },
  ],
  [
    'not to be named so',
    notAnId('A b'),
    'agent-preset/invalid',
    '"A b" cannot be the id of a document. Use up to 64 small letters, digits and hyphens.',
    { agentPreset: 'A b', reason: 'not a file name' },
  ],
  [
    'there already',
    taken('a'),
    'agent-preset/exists',
    'There is a preset a already. Choose another id.',
    { agentPreset: 'a' },
  ],
  [
    'refused',
    refused('a', 'saved', FOUND),
    'agent-preset/invalid',
    'The text was not saved, line 5: no such row',
    { agentPreset: 'a', reason: 'line 5: no such row', diagnostics: FOUND },
  ],
  [
    'refused and nameless',
    refused('', 'imported', FOUND),
    'agent-preset/invalid',
    'The text was not imported, line 5: no such row',
    { reason: 'line 5: no such row', diagnostics: FOUND },
  ],
])('a preset that is %s', ([, error, code, message, details]) => {
  expect({ code: error.code, message: error.message, details: error.details }).toStrictEqual({ code, message, details })
})

test('what could not be saved keeps its cause', () => {
  const cause = new Error('EIO: i/o error')
  expect(notSaved(cause)).toMatchObject({
    code: 'agent-preset/not-saved',
    message: 'The document was not saved: EIO: i/o error. What was there before is untouched.',
    cause,
  })
})

test('an edit that cannot be made is the fault of the text', () => {
  expect(editing('a', () => 'done')).toBe('done')
  const edit = () =>
    editing('a', () => {
      throw new Error('it declares nothing')
    })
  expect(edit).toThrow(
    expect.objectContaining({
      code: 'agent-preset/invalid',
      message: 'The document of a cannot be edited: it declares nothing. Mend its text first.',
      details: { agentPreset: 'a', reason: 'it declares nothing' },
    }),
  )
})

test('a row that waits for itself is named', () => {
  expect(new ActivationCycleError('host:r', 'p')).toMatchObject({
    name: 'ActivationCycleError',
    code: 'agent-preset/awaited-in-activation',
    message:
      "row host:r awaits the preset p inside its own activation, and the preset waits for the host's rows; ask after activation",
    row: 'host:r',
    preset: 'p',
  })
})
