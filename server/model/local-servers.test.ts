import { afterAll, expect, test } from 'vitest'
import { findLocalServers, LOCAL_SERVERS } from './local-servers.ts'
import { closeServers, deadAddress, httpServer, tcpServer } from './servers.fixture.ts'

afterAll(closeServers)

const answering = (body: string, status = 200) =>
  httpServer((_request, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body))
const found = async (server: { port: number }) =>
  (await findLocalServers({ ports: [{ name: 'Some server', port: server.port }] }))[0]!

test('the usual ports of the usual servers', () => {
  expect(LOCAL_SERVERS.map(({ name, port }) => `${name} ${port}`)).toEqual([
    'Ollama 11434',
    'LM Studio 1234',
    'llama.cpp 8080',
    'vLLM 8000',
    'SGLang 30000',
  ])
})

test('only 127.0.0.1 is looked at, at every port at once', async () => {
  const asked: string[] = []
  const answers = LOCAL_SERVERS.map(() => Promise.withResolvers<Response>())
  const running = findLocalServers({
    fetch: (url) => {
      asked.push(String(url))
      return answers[asked.length - 1]!.promise
    },
  })
  expect(asked).toEqual(LOCAL_SERVERS.map(({ port }) => `http://127.0.0.1:${port}/v1/models`))
  for (const answer of answers) answer.resolve(Response.json({ data: [] }))
  expect((await running).map(({ name, state }) => [name, state])).toEqual(
    LOCAL_SERVERS.map(({ name }) => [name, 'no-model']),
  )
})

test('a server with models is ready and says which', async () => {
  const server = await answering('{"data":[{"id":"a"},{"id":7},null,{"id":"b"}]}')
  expect(await found(server)).toEqual({
    name: 'Some server',
    port: server.port,
    baseURL: `http://127.0.0.1:${server.port}/v1`,
    state: 'ready',
    models: ['a', 'b'],
  })
})

test.each([
  ['{"data":[]}', 200, 'no-model'],
  ['{"object":"list","data":null}', 200, 'no-model'],
  ['{"error":{"message":"Loading model"}}', 503, 'no-model'],
  ['{"error":"a key is needed"}', 401, 'no-model'],
  ['{"hello":1}', 200, 'not-an-api'],
  ['null', 200, 'not-an-api'],
  ['<html>', 200, 'not-an-api'],
  ['nothing here', 404, 'not-an-api'],
  ['{}', 404, 'not-an-api'],
])('%s with status %i is %s', async (body, status, state) => {
  expect(await found(await answering(body, status))).toMatchObject({ state, models: [] })
})

test('nobody there, and nobody who speaks, is nothing; what is no HTTP or never ends is no API', async () => {
  expect(await found(await deadAddress())).toMatchObject({ state: 'nothing' })
  expect(await found(await tcpServer(() => undefined))).toMatchObject({ state: 'nothing' })
  expect(
    await found(await httpServer((_request, response) => void response.writeHead(200).write('{"data":['))),
  ).toMatchObject({ state: 'not-an-api' })
  const endless = await httpServer((_request, response) => {
    for (let n = 0; n < 30; n++) response.write('x'.repeat(100_000))
  })
  expect(await found(endless)).toMatchObject({ state: 'not-an-api' })
})

test('a redirect is not followed off this machine', async () => {
  const server = await httpServer((_request, response) =>
    response.writeHead(302, { location: 'http://elsewhere.invalid/' }).end(),
  )
  expect(await found(server)).toMatchObject({ state: 'not-an-api' })
})
