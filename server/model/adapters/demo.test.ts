import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { BuiltRequest, Route, StreamEvent } from '../port.ts'
import { demoRoute, parseScript } from './demo.ts'

const HEAD = '{"k":"script","preset":"p","needs":["bash"]}'

async function answer(route: Route, signal: AbortSignal = new AbortController().signal): Promise<StreamEvent[]> {
  const request = { tools: [{ name: 'bash' }], messages: [], signal } as unknown as BuiltRequest
  const call = await route.prepare({ provider: 'demo', model: 'scripted' })
  const events: StreamEvent[] = []
  for await (const event of call.stream(request)) events.push(event)
  return events
}

const textOf = (events: StreamEvent[]) => events.map((event) => (event.t === 'delta' ? event.s : '')).join('')

test.each([
  ['half a line', `${HEAD}\n\n{"k":"reply"`, 's.jsonl:3: not JSON'],
  ['an unknown key', `${HEAD}\n{"k":"reply","speak":"x"}`, 's.jsonl:2: '],
  ['no head', '{"k":"reply"}', 's.jsonl:1: a script begins with its head line'],
])('a script with %s is refused by file and line', (_what, text, message) => {
  expect(() => parseScript(text, 's.jsonl')).toThrow(message)
})

test('the path of the workspace stands in text as it is and in arguments as JSON, whatever its characters', async () => {
  const scripts = mkdtempSync(join(tmpdir(), 'demo-'))
  const reply = { k: 'reply', say: 'In {{demo}} now', calls: [{ name: 'bash', arguments: { command: 'ls {{demo}}' } }] }
  writeFileSync(join(scripts, 'a.jsonl'), `${HEAD}\n${JSON.stringify(reply)}\n`)
  const path = '/data/$&"quoted"\\back'
  const events = await answer(demoRoute({ scripts, workspace: () => path, paceMs: 0 }))
  const args = events.findLast((event) => event.t === 'delta')
  expect(args?.t === 'delta' && JSON.parse(args.s)).toEqual({ command: `ls ${path}` })
  expect(textOf(events)).toContain(`In ${path} now`)
})

test('scripts that could not be read are tried again', async () => {
  const scripts = join(mkdtempSync(join(tmpdir(), 'demo-')), '.')
  writeFileSync(join(scripts, 'a.jsonl'), 'broken')
  const route = demoRoute({ scripts, workspace: () => '/demo', paceMs: 0 })
  await expect(answer(route)).rejects.toThrow('a.jsonl:1')
  writeFileSync(join(scripts, 'a.jsonl'), `${HEAD}\n{"k":"reply","say":"hello"}\n`)
  expect(textOf(await answer(route))).toBe('hello')
})

test('past the end of the script it says that no model was involved', async () => {
  const scripts = mkdtempSync(join(tmpdir(), 'demo-'))
  writeFileSync(join(scripts, 'a.jsonl'), `${HEAD}\n`)
  expect(textOf(await answer(demoRoute({ scripts, workspace: () => '/demo', paceMs: 0 })))).toContain('no model')
})
