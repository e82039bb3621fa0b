// The floor of start-up and memory: bare Node serving one file with Fastify. Plain JavaScript, so nothing is stripped.
import { readFileSync } from 'node:fs'
import fastify from 'fastify'

const page = readFileSync(process.argv[2])
const app = fastify()
app.get('/', (_request, reply) => reply.type('text/html').send(page))
await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`ready: http://127.0.0.1:${app.server.address().port}/`)
