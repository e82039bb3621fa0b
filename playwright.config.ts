import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'

/** Written by `scripts/setup.mjs --test`. */
const found = join(import.meta.dirname, 'dist', 'browser-path')
const executablePath = existsSync(found) ? readFileSync(found, 'utf8') : process.env['CHROMIUM_PATH']
// Chromium refuses its own sandbox to root.
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []

export default defineConfig({
  testDir: 'e2e/browser',
  outputDir: 'test-results',
  forbidOnly: process.env['CI'] === 'true',
  retries: 0,
  workers: 2,
  // Only a failure waits this long; a busy machine needs its time.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  reporter: [['dot'], ['json', { outputFile: process.env['PLAYWRIGHT_JSON_OUTPUT_FILE'] ?? 'reports/browser.json' }]],
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    // Pictures of every step would be a fourth of the suite's work; the snapshots of the page tell more.
    trace: { mode: 'retain-on-failure', screenshots: false },
    launchOptions: { args, ...(executablePath ? { executablePath } : {}) },
  },
})
