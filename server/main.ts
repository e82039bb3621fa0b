#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { parseFlags, type Parsed } from './flags.ts'
import { never } from './wire/never.ts'

keepCompiled(join(import.meta.dirname, '../node_modules/.cache/core-web'))
const parsed = parseFlags(process.argv.slice(2), process.env, process.cwd())
if (parsed.kind === 'refused') {
  console.error(parsed.message)
  process.exitCode = 2
} else {
  process.exitCode = await start(parsed)
}

/** Each command is imported only when it is asked for: a refused command line answers at once. */
async function start({ command, flags, rest }: Extract<Parsed, { kind: 'ok' }>): Promise<number> {
  switch (command) {
    case 'serve': {
      const { serve } = await import('./serve.ts')
      return serve({ rootDir: join(import.meta.dirname, '..'), flags, env: process.env })
    }
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

/**
 * Keeps compiled and type-stripped modules from one start to the next: half the CPU of a start, and memory of the stripper.
 * The folder belongs to this installation, because what lies in it is run. Worker threads read only the variable.
 * A folder that cannot be written leaves everything as it was.
 */
function keepCompiled(folder: string): void {
  if (process.env['NODE_COMPILE_CACHE'] !== undefined || process.env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return
  enableCompileCache(folder)
  process.env['NODE_COMPILE_CACHE'] = folder
}
