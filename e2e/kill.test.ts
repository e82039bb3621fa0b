import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Bench, sweep } from './kill/sweep.ts'
import { killedSwitch } from './kill/switch.ts'

let bench: Bench
beforeAll(async () => {
  bench = await Bench.open()
}, 60_000)
afterAll(() => bench?.close())

// A few points of each kind; every one of them is tried by `e2e/long/kill.long.test.ts`.
test('B34 SL-13 killed on the way of a first prompt: nothing acknowledged is lost, the next prompt works', async () => {
  const { kills } = await sweep(bench, { prompt: 'first', on: 'disk' }, [9, 30])
  expect(kills.map((kill) => kill.slice(0, 14))).toEqual(['killed at disk', 'killed at disk'])
}, 90_000)

test('B34 SL-13 killed at an await on the way of a later prompt: nothing acknowledged is lost', async () => {
  const { kills } = await sweep(bench, { prompt: 'next', on: 'await' }, [60, 160])
  expect(kills.map((kill) => kill.slice(0, 15))).toEqual(['killed at await', 'killed at await'])
}, 90_000)

/** Command lines of the living processes that hold `word`. */
const alive = (word: string) =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')]
      } catch {
        // It ended between the listing and the reading.
        return []
      }
    })
    .filter((line) => line.includes(word))

test('B30 killed in the middle of a bash call: its outcome is unknown, its processes are gone, the next prompt works', async () => {
  const server = await bench.serve()
  const client = await server.connect()
  const session = await bench.create(client)
  await client.attach(session)
  const started = join(bench.root, 'work/started')
  const nap = '86399.25'
  const command = `touch ${started}; echo begun; sleep ${nap}`
  bench.mock.script('*', [
    { toolCalls: [{ name: 'bash', arguments: JSON.stringify({ command }) }], finish: 'tool-calls' },
  ])
  await bench.prompt(client, session)
  await client.until((frame) => frame.t === 'tool-output' && frame.text.includes('begun'))
  expect(existsSync(started)).toBe(true)
  await server.kill()

  const next = await bench.serve()
  const back = await next.connect()
  const before = bench.mock.requests.length
  await bench.complete(back, session)
  const events = bench.check(session)
  const result = events.find((event) => event.type === 'tool/result')
  expect(result?.data.error).toEqual({ code: 'TOOL_OUTCOME_UNKNOWN' })
  const end = events.find((event) => event.type === 'turn/end')
  expect(end?.data).toEqual({ turn: 1, reason: { kind: 'interrupted' } })
  const asked = bench.mock.requests[before]!.body['messages'] as { role: string; content: string }[]
  expect(asked.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user'])
  expect(asked[3]!.content).toContain('outcome is unknown')
  await expect.poll(() => alive(`sleep ${nap}`)).toEqual([])
  await back.close()
  await next.stop()
}, 90_000)

test('H-05 killed on the way of a switch: the session has the old preset or the new one, and its first request agrees', async () => {
  const minimal = ['bash', 'str_replace_editor']
  for (const [on, at] of [
    ['await', 5],
    ['await', 60],
    ['disk', 4],
    ['disk', 400],
  ] as const) {
    const { killed, acknowledged, preset, tools } = await killedSwitch(bench, on, at)
    expect(killed === undefined).toBe(at === 400)
    expect(acknowledged).toBe(at === 400)
    // Nothing of a blank session is on disk before its switch is.
    expect(preset).toBeOneOf(acknowledged ? ['standard'] : ['standard', 'minimal', undefined])
    if (preset !== undefined) expect(tools.includes('todo_write')).toBe(preset === 'standard')
    if (preset === 'minimal') expect(tools).toEqual(minimal)
  }
}, 120_000)
