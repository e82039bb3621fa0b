process.env['NODE_ENV'] = 'test'
import { defineConfig, type Plugin } from 'vitest/config'

/**
 * Stryker picks the tests of a mutant by a pattern of their names, joined by a blank (its vitest runner 9.6); vitest from 4
 * on joins the names of suites and test by ` > `. Without this every test inside a `describe` would be skipped, and what
 * only such tests kill would count as survived.
 */
const nestedNames: Plugin = {
  name: 'nested-names',
  configureVitest({ project }) {
    let pattern = project.config.testNamePattern
    Object.defineProperty(project.config, 'testNamePattern', {
      enumerable: true,
      configurable: true,
      get: () => pattern,
      set(given: RegExp | undefined) {
        pattern = given && new RegExp(given.source.replaceAll(' ', '(?: | > )'))
      },
    })
  },
}

/** The rooms whose tests Stryker runs against mutants. */
export default defineConfig({
  plugins: [nestedNames],
  test: {
    environment: 'node',
    testTimeout: 60_000,
    include: [
      'server/{preset,projection,scope,prompt}/**/*.test.ts',
      'server/model/*.test.ts',
      'server/session/{selection,selection-rules,titles}.test.ts',
    ],
  },
})
