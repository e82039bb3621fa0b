import { Terminal } from '../terminal/terminal.ts'
import { confinement } from './sandbox.fixture.ts'

/** Run as a process of its own under a uid without rights: prints what its sandbox does, as one line of JSON. */
const place = confinement({ limits: { processes: 40 } })
const { enforcement, findings } = await place.sandbox.ready()
const made = new Terminal({ cwd: place.work, confine: place.confine })
const says = async (command: string) => (await made.run(command)).output.trim()
const facts = {
  enforcement,
  findings,
  uid: await says('id -u'),
  written: await says('echo a >made && echo b >/tmp/made && cat made /tmp/made'),
  denied: await says(`: >${place.home}/a; : >/var/tmp/core-web-try; unshare -Ur true && echo never`),
  // Forks until the kernel refuses; bash itself waits and tries again, so the limit of time ends it.
  bomb: (await made.run('bomb() { bomb | bomb & }; bomb 2>/dev/null', { timeoutMs: 1500 })).end.kind,
  most: Number(await says('set -- /proc/[0-9]*; echo $#')),
}
await made.close()
await place.remove()
process.stdout.write(JSON.stringify(facts))
