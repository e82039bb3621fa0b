import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ROOT } from '../host.ts'
import { startServer } from '../process.ts'
import { launch } from './chromium.ts'
import { figure, type Figure, type Group } from './figure.ts'
import { scratch } from './rig.ts'

const WEB = join(ROOT, 'dist/web')

interface Chunk {
  file: string
  imports?: string[]
  isEntry?: boolean
}

/** The entry and everything it imports before it runs. */
function firstChunks(): string[] {
  const manifest = JSON.parse(readFileSync(join(WEB, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>
  const open = Object.keys(manifest).filter((key) => manifest[key]!.isEntry)
  const seen = new Set<string>()
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (seen.has(key)) continue
    seen.add(key)
    open.push(...(manifest[key]!.imports ?? []))
  }
  const html = readFileSync(join(WEB, 'index.html'), 'utf8')
  const linked = [...html.matchAll(/<script[^>]+src="\.?\/?([^"]+)"/g)].map(([, file]) => file!)
  return [...new Set([...[...seen].map((key) => manifest[key]!.file), ...linked])].filter((file) =>
    file.endsWith('.js'),
  )
}

const gzipKilobytes = (bytes: Buffer): number => gzipSync(bytes, { level: 9 }).length / 1024

/** React and its renderer in their production builds: what a page of this kind cannot do without. */
function reactAlone(): number {
  const files = [
    'react/cjs/react.production.js',
    'react-dom/cjs/react-dom-client.production.js',
    'scheduler/cjs/scheduler.production.js',
  ]
  return gzipKilobytes(Buffer.concat(files.map((file) => readFileSync(join(ROOT, 'node_modules', file)))))
}

/** Opens the printed address in a fresh profile and counts what goes out until a person can type. */
async function requestsToType(): Promise<Figure> {
  const { root, remove } = scratch()
  const server = await startServer({ dataDir: root })
  const browser = await launch()
  const page = await browser.newPage()
  const urls: string[] = []
  page.on('request', (request) => urls.push(request.url()))
  page.on('websocket', (socket) => urls.push(socket.url()))
  const started = performance.now()
  await page.goto(server.url)
  await page.getByTestId('new-session').waitFor()
  const ms = performance.now() - started
  await browser.close()
  await server.stop()
  remove()
  return figure({
    name: 'requests to first interaction',
    unit: 'requests',
    value: urls.filter((url) => !url.startsWith('data:')).length,
    floor: 1,
    floorIs: 'the document itself',
    judged: 'value',
    target: 10,
    note: `socket, login and fonts included; ready after ${Math.round(ms)} ms`,
  })
}

export const group: Group = async () => {
  const chunks = firstChunks()
  const script = chunks.reduce((sum, file) => sum + gzipKilobytes(readFileSync(join(WEB, file))), 0)
  return [
    figure({
      name: 'first load, gzip of script',
      unit: 'KB',
      value: script,
      floor: reactAlone(),
      floorIs: 'React and its renderer, not minified',
      judged: 'value',
      target: 250,
      note: `${chunks.length} files`,
    }),
    await requestsToType(),
  ]
}
