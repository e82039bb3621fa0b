// Plain JavaScript for any Node >= 18: this runs before the pinned runtime and the dependencies exist.
import { buildPage } from './page.mjs'
import { findBrowser } from './browser.mjs'
import { installDependencies } from './install.mjs'

try {
  installDependencies()
  await buildPage()
  if (process.argv.includes('--test')) findBrowser()
} catch (error) {
  console.error(`setup: ${error.message}`)
  if (error.cause) console.error(`       ${error.cause.message}`)
  process.exit(1)
}
