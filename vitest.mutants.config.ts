process.env['NODE_ENV'] = 'test'
import { defineConfig } from 'vitest/config'

/** The rooms whose tests Stryker runs against mutants: pure folds and texts, no disk, no process, no clock. */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['server/{projection,scope,prompt}/**/*.test.ts', 'server/model/*.test.ts'],
  },
})
