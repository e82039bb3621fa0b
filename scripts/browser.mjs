import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { at, say } from './root.mjs'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** Finds a Chromium for the browser tests, or installs Debian's as root, and writes its path to `dist/browser-path`. */
export function findBrowser() {
  const path = named() ?? installed() ?? playwrights() ?? debians()
  if (!path) {
    throw new Error(
      'the browser tests need Chromium or Chrome: install one, name one in CHROMIUM_PATH, or run "npx playwright install chromium"',
    )
  }
  mkdirSync(at('dist'), { recursive: true })
  writeFileSync(at('dist', 'browser-path'), path)
}

function named() {
  const path = process.env.CHROMIUM_PATH
  if (!path) return undefined
  if (!existsSync(path)) throw new Error(`CHROMIUM_PATH names ${path}, which does not exist`)
  return path
}

function installed() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...candidates, ...places].find((path) => existsSync(path))
}

function playwrights() {
  const path = createRequire(import.meta.url)('@playwright/test').chromium.executablePath()
  return path && existsSync(path) ? path : undefined
}

function debians() {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return undefined
  say('installing chromium with apt-get for the browser tests')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [
    ['update', '-q'],
    ['install', '-yq', '--no-install-recommends', 'chromium'],
  ]) {
    const done = spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
    if (done.status !== 0) throw new Error(`apt-get ${args[0]} failed, see above; or name a browser in CHROMIUM_PATH`)
  }
  return installed()
}
