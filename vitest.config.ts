process.env.NODE_ENV = 'test'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'server',
          environment: 'node',
          pool: 'forks',
          include: ['server/**/*.test.ts', 'e2e/*.test.ts', 'scripts/**/*.test.ts'],
          testTimeout: 20_000,
          hookTimeout: 20_000,
        },
      },
      {
        plugins: [react()],
        test: {
          name: 'web',
          environment: 'happy-dom',
          pool: 'forks',
          include: ['web/src/**/*.test.{ts,tsx}'],
        },
      },
    ],
  },
})
