import { readFileSync } from 'node:fs'
import { called, contextOf } from '../testing.ts'
import { localFs } from '../fs-local.ts'
import { strReplaceEditor } from './editor.ts'
import type { Json } from '../../wire/json.ts'

/** Runs the editor calls given as JSON on stdin and prints their outcomes; lets a test run them as another user. */
const tool = strReplaceEditor(localFs())
const outcomes = []
for (const args of JSON.parse(readFileSync(0, 'utf8')) as Json[])
  outcomes.push(called(await tool.run(args, contextOf())))
process.stdout.write(JSON.stringify(outcomes))
