import { Terminal } from '../terminal/terminal.ts'
import { confinement } from './sandbox.fixture.ts'

/** Run as a process of its own and killed: a confined shell with jobs of both kinds. Prints its folder once they run. */
const [seconds] = process.argv.slice(2) as [string]
const place = confinement()
const made = new Terminal({ cwd: place.work, confine: place.confine })
await made.run(`sleep ${seconds} & setsid nohup sleep ${seconds} >/dev/null 2>&1 &`)
process.stdout.write(`${place.work}\n`)
await made.run(`sleep ${seconds}`)
