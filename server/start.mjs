#!/usr/bin/env node
// Plain JavaScript on purpose: with a warm cache nothing of the server wakes Node's type stripper, which saves about
// 20 MB and a third of the start. Worker threads read only the variable.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { takeSecrets } from './handover.mjs'

takeSecrets()

// The folder belongs to this installation, because what lies in it is run; one that cannot be written changes nothing.
if (process.env.NODE_COMPILE_CACHE === undefined && process.env.NODE_DISABLE_COMPILE_CACHE === undefined) {
  const folder = join(import.meta.dirname, '../node_modules/.cache/core-web')
  enableCompileCache(folder)
  process.env.NODE_COMPILE_CACHE = folder
}
await import('./main.ts')
