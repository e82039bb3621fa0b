import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import type { PresetRow } from '../../../server/wire/views.ts'
import { PresetOptions } from '../presets/preset-options.tsx'
import { PresetCards } from './preset-cards.tsx'
import { deltaOf } from './state.ts'

afterEach(cleanup)

const tool = (name: string, description = '') => ({ name, description, parameters: {} })

const preset = (id: string, more: Partial<PresetRow> = {}): PresetRow => ({
  id,
  isDefault: false,
  generation: 1,
  own: false,
  services: [],
  tools: [tool('bash')],
  prompt: 'You are an agent.',
  tokens: 100,
  ...more,
})

const many = Array.from({ length: 200 }, (_, index) => preset(`p${index}`, { tools: [tool(`tool-${index}`)] }))

test('two hundred presets put a bounded number of cards in the page, the picked one among them, and a filter finds any', () => {
  render(<PresetCards presets={many} value="p150" onPick={() => {}} />)
  expect(screen.getAllByRole('radio').length).toBeLessThanOrEqual(25)
  expect(screen.getByRole('radio', { checked: true }).textContent).toContain('p150')
  fireEvent.change(screen.getByTestId('preset-filter'), { target: { value: 'tool-199' } })
  expect(screen.getAllByRole('radio').map((card) => card.textContent?.includes('p199'))).toEqual([true])
  fireEvent.change(screen.getByTestId('preset-filter'), { target: { value: 'no such' } })
  expect(screen.queryAllByRole('radio')).toEqual([])
})

test('two hundred presets put a bounded number of rows in the list; more come when asked for', () => {
  render(<PresetOptions presets={many} value={undefined} onPick={() => {}} />)
  const before = screen.getAllByRole('option').length
  expect(before).toBeLessThanOrEqual(40)
  fireEvent.click(screen.getByText('Show more'))
  expect(screen.getAllByRole('option').length).toBeGreaterThan(before)
})

test('a card says what is inside; a broken or waiting one says why and cannot be picked', () => {
  const onPick = vi.fn<(id: string) => void>()
  const rows = [
    preset('fine', { services: ['terminals'], prompt: 'You are fine.' }),
    preset('off', { broken: 'Row "x" names no known plugin.' }),
    preset('later', { broken: 'waiting for browser', waiting: true }),
    preset('old', { stale: { message: 'bad indentation', line: 7 }, notices: ['The key `text` is now `prefix`.'] }),
  ]
  render(<PresetCards presets={rows} value="fine" onPick={onPick} />)
  const [fine, off, later, old] = screen.getAllByRole('radio')
  expect(fine?.textContent).toContain('You are fine.')
  expect(fine?.textContent).toContain('terminals')
  expect(off?.textContent).toContain('names no known plugin')
  expect(later?.textContent).toContain('waiting for browser')
  expect(old?.textContent).toMatch(/line 7.*bad indentation.*is now/)
  for (const card of [off, later]) {
    expect(card?.getAttribute('aria-disabled')).toBe('true')
    if (card) fireEvent.click(card)
  }
  expect(onPick).not.toHaveBeenCalled()
  if (old) fireEvent.click(old)
  expect(onPick).toHaveBeenCalledWith('old')
})

test('names with markup are text', () => {
  const name = '<img src=x onerror=alert(1)>'
  const { container } = render(<PresetCards presets={[preset('m', { name })]} value="m" onPick={() => {}} />)
  expect(container.querySelector('img')).toBeNull()
  expect(screen.getByRole('radio').textContent).toContain(name)
})

test('a switch is told by tools, services, lines and tokens', () => {
  const before = preset('a', { tools: [tool('x'), tool('y', '1')], services: ['s'], prompt: 'one', tokens: 10 })
  const after = preset('b', { tools: [tool('y', '2'), tool('z')], services: ['t'], prompt: 'one\ntwo', tokens: 4 })
  expect(deltaOf(before, after)).toEqual({
    added: ['z'],
    removed: ['x'],
    changed: ['y'],
    services: { added: ['t'], removed: ['s'] },
    lines: 1,
    tokens: -6,
  })
})
