import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openPty } from '../terminal/pty.ts'
import { fixesFor } from './fixes.ts'
import { probe, type OpenTerminal, type ProbeOptions } from './probe.ts'

let scratch: string

beforeEach(() => {
  scratch = mkdtempSync('/var/tmp/core-web-probe-')
})

afterEach(() => rmSync(scratch, { recursive: true, force: true }))

/** A program `bwrap` that knows its version; what it would run is the terminal's business. */
function program(): string {
  writeFileSync(join(scratch, 'bwrap'), '#!/bin/sh\necho bubblewrap 9.9\n')
  chmodSync(join(scratch, 'bwrap'), 0o755)
  return scratch
}

const says =
  (text: string): OpenTerminal =>
  (_argv, { onData }) => {
    onData(Buffer.from(text))
    return { pid: 0, exited: Promise.resolve() }
  }

const options = (fields: Partial<ProbeOptions> = {}): ProbeOptions => ({
  openTerminal: openPty,
  scratch: join(scratch, 'trials'),
  masks: [],
  env: { PATH: process.env['PATH'] },
  platform: 'linux',
  system: { container: false },
  now: () => 7,
  ...fields,
})

describe('where nothing confines, the verdict says why and what would help', () => {
  test('no program', async () => {
    const { verdict, runner } = await probe(options({ path: join(scratch, 'none') }))
    expect(runner).toBe(undefined)
    expect(verdict).toMatchObject({ enforcement: 'none', at: 7 })
    expect(verdict.findings.join()).toContain('no program bwrap')
    expect(verdict.fix).toEqual([expect.stringContaining('apt install bubblewrap')])
  })

  test.each([
    ['AppArmor', { apparmor: '1' }, 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', 'AppArmor profile'],
    [
      'a kernel setting',
      { clone: '0' },
      'bwrap: No permissions to create new namespace',
      'unprivileged_userns_clone=1',
    ],
    ['no namespaces', { namespaces: '0' }, 'bwrap: Creating new namespace failed', 'max_user_namespaces'],
    ['a container', { container: true }, 'bwrap: No permissions to create new namespace', 'CORE_WEB_BOUNDARY'],
    ['something else', {}, 'bwrap: cannot open a thing', 'in a terminal'],
  ])('%s', async (_name, facts, said, fix) => {
    const system = { container: false, ...facts }
    const { verdict } = await probe(options({ path: program(), system, openTerminal: says(`${said}\r\n`) }))
    expect(verdict).toMatchObject({ enforcement: 'none', version: '9.9' })
    expect(verdict.findings.join('\n')).toContain(said)
    expect(verdict.fix).toEqual([expect.stringContaining(fix)])
  })

  test('a terminal that cannot be had', async () => {
    const openTerminal = () => {
      throw new Error('out of terminals')
    }
    const { verdict } = await probe(options({ path: program(), openTerminal }))
    expect([verdict.enforcement, verdict.findings.join()]).toEqual([
      'none',
      expect.stringContaining('out of terminals'),
    ])
  })

  test('a scratch folder that cannot be made', async () => {
    writeFileSync(join(scratch, 'trials'), '')
    const { verdict } = await probe(options({ path: program() }))
    expect([verdict.enforcement, verdict.findings.join()]).toEqual(['none', expect.stringMatching(/EEXIST|ENOTDIR/)])
  })

  test('another system', async () => {
    const { verdict } = await probe(options({ platform: 'darwin' }))
    expect([verdict.enforcement, verdict.fix.length]).toEqual(['none', 1])
  })
})

test('a wrapper that starts everything bare is found out, check by check', async () => {
  writeFileSync(
    join(scratch, 'bwrap'),
    '#!/bin/sh\n[ "$1" = --version ] && { echo bubblewrap 1; exit; }\nwhile [ "$1" != -- ]; do shift; done\nshift; exec "$@"\n',
  )
  chmodSync(join(scratch, 'bwrap'), 0o755)
  const { verdict } = await probe(options({ path: scratch }))
  expect(verdict.enforcement).toBe('none')
  for (const check of ['own-tmp', 'outside-read-only', 'masks', 'own-processes'])
    expect(verdict.findings.join('\n')).toContain(`no ${check}`)
  rmSync('/tmp/made', { force: true })
})

test('where only the lock of namespaces is refused, the profile goes without it', async () => {
  writeFileSync(
    join(scratch, 'bwrap'),
    '#!/bin/sh\ncase "$*" in *--disable-userns*) echo unknown option; exit 1;; esac\nexec /usr/bin/bwrap "$@"\n',
  )
  chmodSync(join(scratch, 'bwrap'), 0o755)
  const bare = await probe(options())
  const { verdict, runner } = await probe(options({ path: scratch }))
  expect(verdict.enforcement).toBe(bare.verdict.enforcement)
  if (bare.runner) expect(runner).toEqual({ program: join(scratch, 'bwrap'), lockUserns: false })
})

test('the container is the boundary when it says so, and nothing is tried', async () => {
  const openTerminal = () => {
    throw new Error('tried')
  }
  const { verdict } = await probe(options({ env: { CORE_WEB_BOUNDARY: 'container' }, openTerminal }))
  expect(verdict).toEqual({ enforcement: 'container', findings: [expect.any(String)], fix: [], at: 7 })
})

test('a real trial leaves nothing behind, whatever it found', async () => {
  const { verdict } = await probe(options())
  expect(verdict.findings.length).toBeGreaterThan(0)
  expect(verdict.enforcement === 'full' ? verdict.fix : ['fix']).toEqual(verdict.enforcement === 'full' ? [] : ['fix'])
  expect(readdirSync(join(scratch, 'trials'))).toEqual([])
})

test('every finding of a machine has a sentence, the likeliest first', () => {
  expect(fixesFor('bwrap: x', { apparmor: '1', namespaces: '0', container: true })).toHaveLength(3)
  expect(fixesFor(undefined, { container: true })).toHaveLength(2)
})
