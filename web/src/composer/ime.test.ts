import { expect, test } from 'vitest'
import { ImeGuard } from './ime.ts'

const enter = { isComposing: false, keyCode: 13 }

test('B82 Enter during a composition belongs to the input method', () => {
  const guard = new ImeGuard(() => {})
  expect(guard.owns(enter)).toBe(false)
  guard.start()
  expect(guard.owns(enter)).toBe(true)
})

test('B82 the browser says so itself by isComposing or key code 229', () => {
  const guard = new ImeGuard(() => {})
  expect(guard.owns({ isComposing: true, keyCode: 13 })).toBe(true)
  expect(guard.owns({ isComposing: false, keyCode: 229 })).toBe(true)
  expect(guard.owns({ nativeEvent: { isComposing: true, keyCode: 13 } })).toBe(true)
})

test('B82 the Enter that ends a composition does not send, the next one does', () => {
  let later = () => {}
  const guard = new ImeGuard((call) => (later = call))
  guard.start()
  guard.end()
  expect(guard.owns(enter)).toBe(true)
  later()
  expect(guard.owns(enter)).toBe(false)
})
