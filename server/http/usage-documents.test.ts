import { expect, test } from 'vitest'
import type { UsageLine } from '../log/index/usage.ts'
import { csv } from './usage-documents.ts'

const line = (fields: Partial<UsageLine>): UsageLine => ({
  day: '2026-05-05',
  provider: 'p',
  model: 'm',
  preset: null,
  cwd: null,
  requests: 1,
  failed: 0,
  retried: 0,
  cost: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, total: 0.0000012 },
  unpriced: 0,
  saved: 0,
  ...fields,
})

test('a table by RFC 4180: quoted where it must be, nothing that a spreadsheet would run, unknown is empty', () => {
  const lines = csv([
    line({ inputTokens: 5, firstMs: 120.4 }),
    line({ model: '=cmd|x', cwd: '/a, "b"', preset: '@p', unpriced: 1 }),
    line({ provider: '-1', model: '+2', cwd: 'a\r\nb' }),
  ]).split('\r\n')
  expect(lines[0]).toBe(
    'day,provider,model,preset,folder,requests,failed,retried,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,reasoning_tokens,estimated_cost_usd,requests_without_cost,first_token_ms',
  )
  expect(lines[1]).toBe('2026-05-05,p,m,,,1,0,0,5,,,,,0.000001,0,120')
  expect(lines[2]).toBe(`2026-05-05,p,'=cmd|x,'@p,"/a, ""b""",1,0,0,,,,,,,1,`)
  expect(lines.slice(3)).toEqual([`2026-05-05,'-1,'+2,,"a`, `b",1,0,0,,,,,,0.000001,0,`, ''])
})
