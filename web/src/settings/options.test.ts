import { describe, expect, test } from 'vitest'
import { freeId, idOf, listOf, mergedOptions, millisecondsOf, numberOf, parseObject } from './options.ts'

describe('options of a route', () => {
  test('a section keeps the fields of others, and what says nothing is not a setting', () => {
    const before = { proxy: 'none', headers: { 'x-a': '1' }, firstByteMs: 0 }
    expect(mergedOptions(before, { headers: {}, includeUsage: false, idleMs: undefined })).toEqual({
      proxy: 'none',
      firstByteMs: 0,
      includeUsage: false,
    })
  })

  test('a text of JSON is an object, nothing, or wrong on a line', () => {
    expect(parseObject(' \n')).toEqual({ ok: true, value: undefined })
    expect(parseObject('{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } })
    expect(parseObject('{\n"a": 1,\n}')).toMatchObject({ ok: false, line: 3 })
    expect(parseObject('{\n"a": 1,\n"b": x\n}')).toMatchObject({ ok: false, line: 3 })
    expect(parseObject('{\n"a": 1')).toMatchObject({ ok: false, line: 2 })
    for (const text of ['[1]', '7', 'null', '"a"']) expect(parseObject(text)).toMatchObject({ ok: false, line: 1 })
  })

  test('seconds are kept in milliseconds; zero is a time and empty is none', () => {
    expect(['', '0', '1.5', '2,5', '-1', 'soon'].map(millisecondsOf)).toEqual([
      undefined,
      0,
      1500,
      2500,
      Number.NaN,
      Number.NaN,
    ])
  })

  test('numbers may be grouped', () => {
    expect(['', '128 000', '1_000', '0.14', 'x'].map(numberOf)).toEqual([undefined, 128000, 1000, 0.14, Number.NaN])
  })

  test('lists are split at commas and white space, each id once', () => {
    expect(listOf(' a, b\nb  c,')).toEqual(['a', 'b', 'c'])
  })

  test('an id is made of the name and is nobody else’s', () => {
    expect(idOf('  2nd Lab / vLLM! ')).toBe('nd-lab-vllm')
    expect(idOf('中文')).toBe('')
    expect(freeId('Ollama', ['ollama', 'ollama-2'])).toBe('ollama-3')
    expect(freeId('中文', [''])).toBe('')
  })
})
