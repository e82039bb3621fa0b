import { expect, test } from 'vitest'
import { z } from 'zod'
import { configFindings, jsonSchemaOf } from './check-config.ts'
import type { RowPlugin } from './kernel.ts'

const js = (text: string) => ({ __jsExpr: text })
const schema = z.strictObject({
  prefix: z.string(),
  limits: z.strictObject({ open: z.number(), names: z.array(z.strictObject({ label: z.string() })) }).optional(),
  free: z.record(z.string(), z.number()).optional(),
})
const found = (config: unknown, plugin: Partial<RowPlugin> = { schema }) => configFindings(plugin, config)
const error = (message: string, path: (string | number)[], what?: 'key') => ({
  severity: 'error',
  message,
  path,
  ...(what && { what }),
})

test.each<[string, unknown, object[]]>([
  ['a config as it should be', { prefix: 'a', limits: { open: 1, names: [{ label: 'x' }] } }, []],
  ['no config', undefined, [error('prefix: Invalid input: expected string, received undefined', ['prefix'])]],
  ['no map', 'text', [error('Invalid input: expected object, received string', [])]],
  ['a wrong value', { prefix: 1 }, [error('prefix: Invalid input: expected string, received number', ['prefix'])]],
  [
    'a wrong value further in',
    { prefix: 'a', limits: { open: 'x', names: [{ label: 1 }] } },
    [
      error('limits.open: Invalid input: expected number, received string', ['limits', 'open']),
      error('limits.names.0.label: Invalid input: expected string, received number', ['limits', 'names', 0, 'label']),
    ],
  ],
  [
    'unknown keys, with what may have been meant',
    { prefix: 'a', prefx: 'b', xyzzy: 1 },
    [error('unknown key prefx (did you mean prefix?)', ['prefx'], 'key'), error('unknown key xyzzy', ['xyzzy'], 'key')],
  ],
  [
    'an unknown key further in',
    { prefix: 'a', limits: { open: 1, names: [], opem: 2 } },
    [error('unknown key opem (did you mean open?)', ['limits', 'opem'], 'key')],
  ],
  [
    'an unknown key in a map in a list',
    { prefix: 'a', limits: { open: 1, names: [{ label: 'x', labl: 'y' }] } },
    [error('unknown key labl (did you mean label?)', ['limits', 'names', 0, 'labl'], 'key')],
  ],
  ['an expression is unknown until it runs', { prefix: js('a') }, []],
  ['a whole config that is one', js('a'), []],
  ['a part that is one', { prefix: 'a', limits: js('a') }, []],
  [
    'an expression elsewhere excuses nothing',
    { prefix: 1, limits: js('a') },
    [error('prefix: Invalid input: expected string, received number', ['prefix'])],
  ],
  [
    'null on the way to a value',
    { prefix: 'a', limits: null },
    [error('limits: Invalid input: expected object, received null', ['limits'])],
  ],
])('%s', async (_name, config, findings) => {
  expect(await found(config)).toEqual(findings)
})

test('a retired key is a warning, and is read under its new name', async () => {
  const plugin: Partial<RowPlugin> = { schema, retired: { text: 'prefix' } }
  expect(await found({ text: 'a' }, plugin)).toEqual([
    { severity: 'warning', message: expect.stringMatching(/text.*prefix/), path: ['text'], what: 'key' },
  ])
  expect((await found({ text: 1 }, plugin)).map(({ severity }) => severity)).toEqual(['warning', 'error'])
})

test.each<[string, unknown, object[]]>([
  ['no schema at all', undefined, []],
  ['a schema of its own kind', { parse: () => 1 }, []],
  ['a common interface without a validator', { '~standard': {} }, []],
  ['one that finds nothing', { '~standard': { validate: async () => ({ value: 1 }) } }, []],
  [
    'one that says where, in steps of every kind',
    { '~standard': { validate: () => ({ issues: [{ message: 'is odd', path: ['a', { key: 'b' }, 0] }] }) } },
    [error('a.b.0: is odd', ['a', 'b', 0])],
  ],
  [
    'one that names a step nobody can write',
    { '~standard': { validate: () => ({ issues: [{ message: 'is odd', path: [Symbol('x')] }] }) } },
    [error('is odd', [''])],
  ],
  [
    'one without a place',
    { '~standard': { validate: () => ({ issues: [{ message: 'is odd' }] }) } },
    [error('is odd', [])],
  ],
  [
    'unknown keys of a schema that nobody can look into',
    { '~standard': { validate: () => ({ issues: [{ message: '-', code: 'unrecognized_keys', keys: ['x'] }] }) } },
    [error('unknown key x', ['x'], 'key')],
  ],
  [
    'unknown keys that it does not name',
    { '~standard': { validate: () => ({ issues: [{ message: '-', code: 'unrecognized_keys' }] }) } },
    [],
  ],
])('a plugin from elsewhere: %s', async (_name, config, findings) => {
  expect(await found({ a: 1 }, { Config: config })).toEqual(findings)
})

test('the schema of an editor has no dialect line, and what JSON cannot say is anything', () => {
  expect(jsonSchemaOf(z.object({ a: z.string(), when: z.date().optional() }))).toEqual({
    type: 'object',
    properties: { a: { type: 'string' }, when: {} },
    required: ['a'],
  })
})
