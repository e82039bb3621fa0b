import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confinement, unconfined, type Confinement } from '../plugins/sandbox.fixture.ts'
import { Colours } from './colours.ts'
import { OWN_MARK } from './control.ts'
import { Shells } from './shells.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import type { Draft } from '../wire/events.ts'
import type { ShellView } from '../wire/safety.ts'

let work: string
let log: Draft[] = []
let place: Confinement | undefined
const open: Terminal[] = []
const shells = new Shells({
  logOf: (session) => (session === 's' ? { append: (...drafts) => log.push(...drafts) } : undefined),
})

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'watch-')))
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
  shells.close()
  await place?.remove()
  place = undefined
  rmSync(work, { recursive: true, force: true })
  log = []
})

function terminal(options: Partial<TerminalOptions> = {}): Terminal {
  const made = new Terminal({ cwd: work, screen: shells.screen('s'), ...options })
  open.push(made)
  return made
}

/** One who watches, and waits for what they see. */
function person() {
  const views: ShellView[] = []
  const looks = new Set<() => void>()
  let text = ''
  const send = (view: ShellView, more = '') => {
    views.push(view)
    text += more
    for (const look of looks) look()
  }
  const until = (wanted: (view: ShellView, text: string) => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        const view = views.at(-1)
        if (!view || !wanted(view, text)) return
        looks.delete(look)
        resolve()
      }
      looks.add(look)
      look()
    })
  return { send, views, text: () => text, until, sees: (word: string) => until((_view, seen) => seen.includes(word)) }
}

const noted = () => log.map(({ type, data }) => [type, data])

describe('watching', () => {
  test('shows what runs, where, and its text with colours, and ends when it is over', async () => {
    const shell = terminal()
    const one = person()
    const nothing = { running: null, answering: false, hidden: false }
    expect(shells.watch('s', one, false)).toEqual(nothing)
    const call = shell.run(`cd /usr; printf 'a\\e[31mred\\e[0m\\e]0;t\\a\\e[2Kb\\n'; sleep 0.4; (exit 3)`, {
      callId: 'c1',
    })
    await one.until((view) => view.running?.foreground === 'sleep')
    expect(one.views.at(-1)).toMatchObject({ pid: shell.pid, cwd: '/usr', running: { callId: 'c1' }, answering: false })
    await call
    await one.until((view) => view.running === null)
    expect(one.text()).toBe('a\x1b[31mred\x1b[0mb\n')
    await shell.run('(sleep 0.2; echo later) & true', { callId: 'c2' })
    await one.sees('later')
    shells.unwatch('s', one)
    expect(noted()).toEqual([
      ['terminal/watch', { watching: true, answering: false }],
      ['terminal/watch', { watching: false, answering: false }],
    ])
    const seen = one.views.length
    await shell.run('echo unseen')
    expect(one.views).toHaveLength(seen)
  })

  test('whoever comes late gets the recent text, and the wrapper is never seen', async () => {
    const shell = terminal()
    await shell.run('set -x; echo early; echo "', { callId: 'c' })
    await shell.run('seq 1 30000', { callId: 'c' })
    const late = person()
    shells.watch('s', late, false)
    expect(late.text()).toMatch(/^\d+\n/)
    expect(late.text().endsWith('29999\n30000\n')).toBe(true)
    expect(late.text().length).toBeLessThanOrEqual(64 * 1024)
    await shell.run('set -v; echo "${BASH_SOURCE[0]}"; echo "', { callId: 'c' })
    await late.sees('unexpected EOF')
    expect(late.text()).not.toMatch(/7777;|s-\d+-|builtin/)
    expect(late.text()).toContain('command: line 1')
  })

  test('a flood does not slow the command, and what was not shown is said', async () => {
    const shell = terminal()
    const one = person()
    await shell.run('true')
    shells.watch('s', one, false)
    const { totalBytes } = await shell.run('head -c 20000000 /dev/zero | tr "\\0" x; echo; echo end')
    expect(totalBytes).toBeGreaterThan(20_000_000)
    await one.sees('end\n')
    expect(one.text()).toMatch(/\[\d+ bytes not shown\]/)
    expect(one.text().length).toBeLessThan(20_000_000)
  })

  test('a new shell of the session is watched without being asked for', async () => {
    const shell = terminal()
    const one = person()
    shells.watch('s', one, false)
    await shell.run('exit 3')
    await shell.run('echo second')
    await one.sees('second')
    expect(one.views.at(-1)!.pid).toBe(shell.pid)
    await shell.close()
    open.length = 0
    await one.until((view) => view.pid === undefined)
    const again = terminal()
    await again.run('echo third')
    await one.sees('third')
  })
})

const without = await unconfined()
const ways: [string, string | undefined, () => Partial<TerminalOptions>][] = [
  ['bare', undefined, () => ({})],
  [
    'in the sandbox',
    without,
    () => {
      place = confinement()
      return { cwd: place.work, confine: place.confine }
    },
  ],
]

describe.each(ways)('answering %s', (_name, missing, options) => {
  const title = missing === undefined ? '' : ` (nothing confines here: ${missing})`

  test.skipIf(missing !== undefined)(
    `keeps a command that asks from being interrupted, and what is typed is logged${title}`,
    async () => {
      const shell = terminal(options())
      const one = person()
      shells.watch('s', one, true)
      const call = shell.run('printf "Name? " >/dev/tty; head -n1 </dev/tty >got; echo "got $(cat got)"', {
        callId: 'c1',
      })
      await one.sees('Name? ')
      await one.until((view) => view.running?.foreground === 'head')
      // Longer than any command may wait for input by itself.
      await new Promise((resolve) => setTimeout(resolve, 2500))
      expect(await shells.input('s', 'Ada\n')).toEqual({ bytes: 4 })
      const { end, output } = await call
      expect(end).toEqual({ kind: 'completed', exitCode: 0 })
      expect(output).toBe('Name? Ada\ngot Ada\n')
      expect(noted()).toContainEqual(['terminal/input', { callId: 'c1', bytes: 4, text: 'Ada\n' }])
      expect((await shell.run('echo clean')).output).toBe('clean\n')
    },
  )

  test.skipIf(missing !== undefined)(`what the terminal does not show is not logged${title}`, async () => {
    const shell = terminal(options())
    const one = person()
    shells.watch('s', one, true)
    const call = shell.run('read -rsp "Password: " p </dev/tty; echo; echo "${#p}"', { callId: 'c1' })
    await one.sees('Password: ')
    await one.until((view) => view.hidden)
    await shells.input('s', 'secret\n')
    expect((await call).output).toMatch(/\n6\n$/)
    expect(noted()).toContainEqual(['terminal/input', { callId: 'c1', bytes: 7 }])
    expect(JSON.stringify(log) + one.text()).not.toContain('secret')
    await one.until((view) => !view.hidden)
  })

  test.skipIf(missing !== undefined)(
    `what nobody has read does not become a command of the shell${title}`,
    async () => {
      const shell = terminal(options())
      const one = person()
      shells.watch('s', one, true)
      const call = shell.run('echo go; sleep 0.7; echo end', { callId: 'c1' })
      await one.sees('go')
      await shells.input('s', 'touch made\ntouch more\ntou')
      expect((await call).end).toEqual({ kind: 'completed', exitCode: 0 })
      const next = await shell.run('ls; echo "$?"')
      expect(next.output).toBe('0\n')
      expect(next.notices).toEqual([])
    },
  )
})

describe('answering', () => {
  test('nobody types where nothing runs, and nobody by accident', async () => {
    const one = person()
    await expect(shells.input('s', 'x\n')).rejects.toMatchObject({ code: 'shell/not-running' })
    const shell = terminal()
    shells.watch('s', one, true)
    await expect(shells.input('s', 'x\n')).rejects.toMatchObject({ code: 'shell/not-running' })
    await shell.run('true')
    await expect(shells.input('s', 'x\n')).rejects.toMatchObject({ code: 'shell/not-running' })
    shells.watch('s', one, false)
    const call = shell.run('echo go; sleep 0.5')
    await one.sees('go')
    await expect(shells.input('s', 'x\n')).rejects.toMatchObject({ code: 'gateway/bad-request' })
    await call
    expect(log.filter(({ type }) => type === 'terminal/input')).toEqual([])
  })

  test('a log that refuses keeps the text from being typed', async () => {
    const refusing = new Shells({
      logOf: () => ({
        append() {
          throw new Error('disk full')
        },
      }),
    })
    const shell = terminal({ screen: refusing.screen('s') })
    const one = person()
    refusing.watch('s', one, true)
    const call = shell.run('echo go; read -r -t 1 x </dev/tty; echo "[$x]"')
    await one.sees('go')
    await expect(refusing.input('s', 'typed\n')).rejects.toThrow('disk full')
    expect((await call).output).toBe('go\n[]\n')
    refusing.close()
  })

  test('the limit of the call holds, and the one who leaves takes the patience along', async () => {
    const shell = terminal()
    const [one, two] = [person(), person()]
    shells.watch('s', one, true)
    shells.watch('s', two, false)
    const limited = await shell.run('A=kept; cat </dev/tty', { timeoutMs: 2500 })
    expect(limited.end).toEqual({ kind: 'timeout', stateKept: true })
    const call = shell.run('echo go; cat </dev/tty', { timeoutMs: 60_000 })
    await one.until((view) => view.running?.foreground === 'cat')
    shells.unwatch('s', one)
    expect(two.views.at(-1)!.running).not.toBeNull()
    expect((await call).end).toEqual({ kind: 'needs-input', stateKept: true })
    expect((await shell.run('echo $A')).output).toBe('kept\n')
  })

  test('a command that already asks for a secret when somebody begins to answer keeps it', async () => {
    const shell = terminal()
    const one = person()
    shells.watch('s', one, false)
    const ask = `python3 -c 'import getpass; print(len(getpass.getpass()))'`
    const call = shell.run(ask, { callId: 'c1' })
    await one.sees('Password: ')
    shells.watch('s', one, true)
    await shells.input('s', 'secret\n')
    expect((await call).output).toContain('6\n')
    expect(JSON.stringify(log) + one.text()).not.toContain('secret')
  })

  test('a shell that has lost its line to a signal is healed although somebody answers', async () => {
    const shell = terminal()
    shells.watch('s', person(), true)
    const { end, ms } = await shell.run('kill -INT $$; sleep 60')
    expect(end).toEqual({ kind: 'completed', exitCode: 130 })
    expect(ms).toBeLessThan(5000)
  })
})

test('cleaned of everything but colours, wherever the stream is cut', () => {
  const piece = fc.constantFrom(
    'a',
    'ü',
    '\n',
    '\r\n',
    '\r',
    '\t',
    '\x1b[1;31m',
    '\x1b[0m',
    '\x1b[2K',
    '\x1b]0;title\x07',
    '\x1b]8;;http://x\x1b\\',
    '\x1bPq\x1b\\',
    '\x1b(B',
    '\x07',
    '\0',
    '\x1b',
    `x${OWN_MARK}abc y\n`,
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (parts, size) => {
      const bytes = Buffer.from(`${parts.join('')}.\n`)
      const colours = new Colours(OWN_MARK)
      let text = ''
      for (let at = 0; at < bytes.length; at += size) text += colours.push(bytes.subarray(at, at + size))
      // oxlint-disable-next-line no-control-regex -- terminal controls are the point
      expect(text.replace(/\x1b\[[0-9;:]*m/g, '')).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/)
      expect(text).not.toContain(OWN_MARK)
      expect(text.isWellFormed()).toBe(true)
    }),
  )
  const whole = new Colours(OWN_MARK)
  expect(whole.push(Buffer.from('10%\r20%\r\n\x1b[1mbold\x1b[0m'))).toBe('10%\r20%\n\x1b[1mbold\x1b[0m')
})
