import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CoreError } from '../wire/errors.ts'

const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>core-web</title>
<body style="font:14px/22px system-ui;max-width:36em;margin:15vh auto;padding:0 20px">
<h1 style="font-size:20px">The page is not built yet</h1>
<p>The server runs, but <code>dist/web</code> is missing. Stop it and run <code>npm start</code>, which builds the page first.</p>`

const escape = (text: string) => text.replace(/[&"<>]/g, (char) => `&#${char.charCodeAt(0)};`)

/** The built page below the base path: hashed assets for ever, the shell never cached and told its base. */
export async function installPage(app: FastifyInstance, options: { root: string; basePath: string }): Promise<void> {
  const shell = shellOf(options.root, options.basePath)
  const send = (request: FastifyRequest, reply: FastifyReply) => {
    const accepts = request.headers['accept-encoding'] ?? ''
    reply.header('cache-control', 'no-cache').header('vary', 'accept-encoding').type('text/html; charset=utf-8')
    if (/\bbr\b/.test(accepts)) return reply.header('content-encoding', 'br').send(shell.br)
    if (/\bgzip\b/.test(accepts)) return reply.header('content-encoding', 'gzip').send(shell.gzip)
    return reply.send(shell.plain)
  }
  const root = existsSync(options.root) ? realpathSync(options.root) : undefined
  const listed = root === undefined ? new Set<string>() : filesBelow(root)
  if (root !== undefined)
    await app.register(fastifyStatic, {
      root,
      preCompressed: true,
      cacheControl: false,
      index: false,
      wildcard: true,
      dotfiles: 'ignore',
      allowedPath: (path) => !existsSync(join(root, path)) || (listed.has(path) && isItself(root, path)),
      setHeaders: (reply, path) =>
        reply.header(
          'cache-control',
          /[/\\]assets[/\\]/.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
        ),
    })
  app.get('/', { schema: { hide: true } }, send)
  app.get('/index.html', { schema: { hide: true } }, send)
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.slice(options.basePath.length - 1).split('?')[0]!
    const isPlace = request.method === 'GET' && !path.startsWith('/api') && !path.startsWith('/assets/')
    if (isPlace) return send(request, reply)
    const error = new CoreError('gateway/not-found', `There is nothing at ${path}.`)
    return reply.code(404).send({ error: { code: error.code, message: error.message } })
  })
}

/** What the build made, as paths that begin with `/`: nothing that comes later is served, no dot file and no link. */
function filesBelow(root: string): Set<string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const paths = files.map((file) => file.slice(root.length).replaceAll(sep, '/'))
  return new Set(paths.filter((path) => !path.includes('/.')))
}

/** False once a listed file, or a folder above it, was exchanged for a link. */
function isItself(root: string, path: string): boolean {
  try {
    return realpathSync(join(root, path)) === join(root, path)
  } catch {
    return false // gone by now
  }
}

function shellOf(root: string, basePath: string): { plain: Buffer; br: Buffer; gzip: Buffer } {
  const file = join(root, 'index.html')
  const html = existsSync(file) ? readFileSync(file, 'utf8') : NOT_BUILT
  const base = escape(basePath)
  // No <base>: the page's policy forbids it, since one smuggled in would move every relative address.
  const plain = Buffer.from(html.replace('<html', `<html data-base="${base}"`).replaceAll('="./', `="${base}`))
  return { plain, br: brotliCompressSync(plain), gzip: gzipSync(plain) }
}
