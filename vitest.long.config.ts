process.env['NODE_ENV'] = 'test'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    name: 'long',
    environment: 'node',
    pool: 'forks',
    include: ['e2e/long/**/*.long.test.ts'],
    // Soaks and kill sweeps measure time themselves and share one machine.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
})
