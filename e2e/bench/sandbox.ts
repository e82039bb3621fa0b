import { confinement } from '../../server/plugins/sandbox.fixture.ts'
import { Terminal } from '../../server/terminal/terminal.ts'
import { figure, paired, repeated, timed, type Group } from './figure.ts'

const CALLS = 50
const STARTS = 10

async function completes(terminal: Terminal): Promise<void> {
  const { end } = await terminal.run('true')
  if (end.kind !== 'completed' || end.exitCode !== 0) throw new Error(`true ended as ${JSON.stringify(end)}`)
}

/** Milliseconds until the first command of a new shell has ended; its own end is not counted. */
async function start(make: () => Terminal): Promise<number> {
  const terminal = make()
  const ms = await timed(() => completes(terminal))
  await terminal.close()
  return ms
}

export const group: Group = async () => {
  const place = confinement()
  const { enforcement, findings } = await place.sandbox.ready()
  if (enforcement !== 'full') throw new Error(`nothing confines here: ${findings.join('; ')}`)
  const bare = () => new Terminal({ cwd: place.work })
  const confined = () => new Terminal({ cwd: place.work, confine: place.confine })
  const open = { bare: bare(), confined: confined() }
  const calls = await paired(
    () => repeated(CALLS, () => timed(() => completes(open.confined))),
    () => repeated(CALLS, () => timed(() => completes(open.bare))),
  )
  await Promise.all([open.bare.close(), open.confined.close()])
  const starts = await paired(
    () => repeated(STARTS, () => start(confined)),
    () => repeated(STARTS, () => start(bare)),
  )
  await place.remove()
  return [
    figure({
      name: 'bash true in the sandbox',
      unit: 'ms',
      ...calls,
      floorIs: 'the same call without a sandbox',
      judged: 'over',
      target: 1,
      gate: 1,
    }),
    figure({
      name: 'shell start in the sandbox',
      unit: 'ms',
      ...starts,
      floorIs: 'the same start without a sandbox',
      judged: 'ratio',
      target: 5,
      gate: 5,
    }),
  ]
}
