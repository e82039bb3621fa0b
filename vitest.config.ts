process.env.NODE_ENV = 'test'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

/** Only a failure waits this long; a busy machine needs its time. */
const patience = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } }

export default defineConfig({
  test: {
    // Most tests wait for a terminal, a disk or a socket: two for each core keep two cores busy.
    maxWorkers: '200%',
    projects: [
      {
        test: {
          name: 'server',
          environment: 'node',
          pool: 'forks',
          include: [
            'server/**/*.test.ts',
            'e2e/*.test.ts',
            'e2e/{models,faults,security,sandbox,approvals,workspaces,files}/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          ...patience,
        },
      },
      {
        plugins: [react()],
        test: {
          name: 'web',
          environment: 'happy-dom',
          pool: 'forks',
          include: ['web/src/**/*.test.{ts,tsx}'],
          ...patience,
        },
      },
    ],
  },
})
