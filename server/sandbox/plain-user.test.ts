import { execFile, spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { unconfined } from '../plugins/sandbox.fixture.ts'

const SCRIPT = join(import.meta.dirname, '../plugins/plain-user.fixture.ts')
const CASES = join(import.meta.dirname, '../plugins/shell-cases.fixture.ts')
/** Nobody's: owns no file and has no home. */
const UID = 65_533
const root = process.getuid?.() === 0
const asUser = root ? ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'] : ['env']

function obstacle(): string | undefined {
  const [program = '', ...args] = asUser
  const { status } = spawnSync(program, [...args, process.execPath, '-e', `fs.readFileSync('${SCRIPT}')`])
  return status === 0 ? undefined : 'another user cannot read this checkout'
}

/** Processes of that user which still live. */
const COUNT = `cat /proc/[0-9]*/status 2>/dev/null | awk '/^State:/ {s=$2} /^Uid:/ && $2 == ${UID} && s != "Z" {n++} END {print n + 0}'`

const without = (await unconfined()) ?? obstacle()

test.skipIf(without !== undefined)(
  `a user without rights has the whole sandbox, and a fork bomb ends at its limit${without === undefined ? '' : ` (${without})`}`,
  async () => {
    const [program = '', ...args] = asUser
    const env = { PATH: process.env['PATH'] }
    const { stdout } = await promisify(execFile)(program, [...args, process.execPath, SCRIPT], { env, timeout: 50_000 })
    const facts = JSON.parse(stdout) as { denied: string; most: number; findings: string[] }
    expect(facts).toMatchObject({ enforcement: 'full', written: 'a\nb', ...(root && { uid: `${UID}` }) })
    expect(facts.findings.join()).not.toContain('runs as root')
    expect(facts.denied.match(/Read-only file system/g)).toHaveLength(2)
    expect(facts.denied).not.toContain('never')
    expect(facts.most).toBeLessThanOrEqual(45)
    const left = () => spawnSync('/bin/sh', ['-c', COUNT]).stdout.toString().trim()
    if (root) await expect.poll(left).toBe('0')
    if (root) await rm(`/var/tmp/core-web-${UID}`, { recursive: true, force: true })
  },
)

test.skipIf(without !== undefined)(
  `SH every shell case holds inside the sandbox of a user without rights${without === undefined ? '' : ` (${without})`}`,
  { timeout: 300_000 },
  async () => {
    const [program = '', ...args] = asUser
    const env = { PATH: process.env['PATH'] }
    const { stdout } = await promisify(execFile)(program, [...args, process.execPath, CASES], { env, timeout: 290_000 })
    const { uid, ran, failed } = JSON.parse(stdout) as { uid: number; ran: number; failed: unknown[] }
    expect(failed).toEqual([])
    expect(ran).toBeGreaterThan(60)
    if (root) expect(uid).toBe(UID)
    if (root) await rm(`/var/tmp/core-web-${UID}`, { recursive: true, force: true })
  },
)
