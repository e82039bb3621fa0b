#!/usr/bin/env node
import { join } from 'node:path'
import { parseFlags } from './flags.ts'

const parsed = parseFlags(process.argv.slice(2), process.env, process.cwd())
if (parsed.kind === 'refused') {
  console.error(parsed.message)
  process.exitCode = 2
} else {
  // Imported only now: a refused command line answers at once.
  const { serve } = await import('./serve.ts')
  process.exitCode = await serve({
    rootDir: join(import.meta.dirname, '..'),
    flags: parsed.flags,
    env: process.env,
  })
}
