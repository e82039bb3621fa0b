import { join } from 'node:path'
import { environment } from './handover.mjs'
import { parseFlags, type Parsed } from './flags.ts'
import { Redactor } from './redact/redact.ts'
import { guardProcess } from './redact/stderr.ts'
import { hostSecrets } from './secrets.ts'
import { never } from './wire/never.ts'

const env = environment()
const parsed = parseFlags(process.argv.slice(2), env, process.cwd())
if (parsed.kind === 'refused') {
  console.error(parsed.message)
  process.exitCode = 2
} else {
  const redactor = new Redactor(hostSecrets(parsed.flags.data, env))
  guardProcess(redactor)
  process.exitCode = await start(parsed, redactor)
}

/** Each command is imported only when it is asked for: a refused command line answers at once. */
async function start({ command, flags, rest }: Extract<Parsed, { kind: 'ok' }>, redactor: Redactor): Promise<number> {
  switch (command) {
    case 'serve': {
      const { serve } = await import('./serve.ts')
      return serve({ rootDir: join(import.meta.dirname, '..'), flags, env, redactor })
    }
    case 'login':
      return (await import('./login.ts')).login(flags, env)
    case 'run':
      return (await import('./headless/commands.ts')).run(rest, flags)
    case 'replay':
      return (await import('./headless/commands.ts')).replay(rest, flags)
    case 'export':
      return (await import('./headless/commands.ts')).exportSession(rest, flags)
    default:
      return never(command)
  }
}
