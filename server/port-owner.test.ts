import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { portOwner } from './port-owner.ts'

test.runIf(process.platform === 'linux')(
  'HS-15 the process that listens on a port is found, on both families',
  async () => {
    for (const host of ['127.0.0.1', '::1']) {
      const server = createServer().listen(0, host)
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      expect(portOwner((server.address() as AddressInfo).port), host).toMatchObject({ pid: process.pid })
    }
  },
)

test('a free port and a system without that folder have no owner', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(portOwner(port, '/nothing/here')).toBeUndefined()
  server.close()
  await once(server, 'close')
  expect(portOwner(port)).toBeUndefined()
})
