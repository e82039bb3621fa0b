import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)
const text = /\.(js|css|html|svg|json|txt|map|wasm|webmanifest)$/
// Below one packet a second encoding saves nothing on the wire.
const smallest = 1024

/**
 * Writes `.br` and `.gz` beside every text file of a built page.
 * Brotli 11 only for what the first load fetches: everywhere it would double the build's time for files few people load.
 */
export async function precompress(folder) {
  const first = firstLoad(folder)
  const files = (await filesBelow(folder)).filter((file) => text.test(file))
  await Promise.all(
    files.map((file) => compress(file, first.has(relative(folder, file).split(sep).join('/')) ? 11 : 9)),
  )
}

async function compress(file, quality) {
  const bytes = await readFile(file)
  if (bytes.length < smallest) return
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  await Promise.all([
    brotli(bytes, { params }).then((packed) => writeFile(`${file}.br`, packed)),
    zip(bytes, { level: 9 }).then((packed) => writeFile(`${file}.gz`, packed)),
  ])
}

async function filesBelow(folder) {
  const entries = await readdir(folder, { withFileTypes: true })
  const lists = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesBelow(path) : [path]
    }),
  )
  return lists.flat()
}

/** index.html, and the entry with everything it imports statically, as the build's manifest names them. */
function firstLoad(folder) {
  const found = new Set(['index.html'])
  const path = join(folder, '.vite', 'manifest.json')
  if (!existsSync(path)) return found
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  const visit = (key) => {
    const chunk = manifest[key]
    if (!chunk || found.has(chunk.file)) return
    found.add(chunk.file)
    for (const sheet of chunk.css ?? []) found.add(sheet)
    for (const next of chunk.imports ?? []) visit(next)
  }
  for (const [key, chunk] of Object.entries(manifest)) if (chunk.isEntry) visit(key)
  return found
}
