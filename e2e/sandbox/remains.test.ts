import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Terminal } from '../../server/terminal/terminal.ts'
import { remains } from '../remains.ts'

test('what the product leaves on a machine is named, and nothing is once it has ended', async () => {
  const before = remains()
  const work = mkdtempSync('/var/tmp/core-web-remains-')
  const dead = `/var/tmp/core-web-${process.getuid?.() ?? 0}/s-4194304-${process.pid}`
  const seconds = `${86_400 + process.pid}`
  const shell = new Terminal({ cwd: work })
  await shell.run(`sleep ${seconds} &`)
  mkdirSync(dead, { recursive: true })
  /** Other tests run beside this one: only its own things are looked at. */
  const mine = () => {
    const { processes, folders, terminals } = remains(before)
    return {
      processes: processes.filter((line) => line.startsWith(`${shell.pid} `) || line.endsWith(` ${seconds}`)).length,
      folders: folders.filter((path) => path === work || path === dead).length,
      terminals: terminals.length,
    }
  }
  // Of a terminal both ends are held here, so that the last output is not lost.
  expect(mine()).toEqual({ processes: 2, folders: 2, terminals: 2 })
  await shell.close()
  rmSync(dead, { recursive: true })
  rmSync(work, { recursive: true })
  await expect.poll(mine).toEqual({ processes: 0, folders: 0, terminals: 0 })
})
