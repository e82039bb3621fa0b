import { newHeader, SessionStore } from './store.ts'
import { turn } from './samples.ts'

/** Run as a process of its own and killed at any moment: appends turns and prints the `seq` that is safe after each barrier. */
const [root, id] = process.argv.slice(2) as [string, string]
const store = new SessionStore(root)
const log = (await store.exists(id))
  ? (await store.openWrite(id)).log
  : store.create(newHeader({ id, createdAt: Date.UTC(2026, 10, 30), writer: 'test' }))
for (let number = 1; ; number++) {
  log.append(...turn(number, 'text '.repeat(number % 50)))
  await log.barrier()
  process.stdout.write(`${log.lastSeq}\n`)
  // Not covered by a barrier: may be lost, must never tear what was acknowledged.
  log.append(...turn(++number, 'unacknowledged '.repeat(20)))
}
