import { mkdirSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { rowOf } from './rows.ts'
import { sessionState } from '../../projection/session-state.ts'
import { nodeDisk } from '../jsonl/disk.ts'
import { Places } from '../jsonl/places.ts'
import { never } from '../../wire/never.ts'
import { IndexDb } from './index-db.ts'
import type { IndexCalls, IndexReply, IndexRequest } from './protocol.ts'
import { fill, reconcile, refreshFile } from './reconcile.ts'

const { root } = workerData as { root: string }
mkdirSync(root, { recursive: true, mode: 0o700 })
const database = new IndexDb(root)

parentPort!.on('message', (request: IndexRequest) => {
  answer(request).then(
    (result) => reply({ n: request.n, answer: result }),
    (error: unknown) => reply({ n: request.n, error: error instanceof Error ? error.message : String(error) }),
  )
})

function reply(message: IndexReply): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort!.postMessage(message)
}

async function answer(request: IndexRequest): Promise<unknown> {
  switch (request.call) {
    case 'reconcile':
      return reconcile(database, root, new Set(request.argument))
    case 'refresh':
      return refresh(request.argument)
    case 'note':
      return note(request.argument)
    case 'list':
      return database.list(request.argument)
    case 'get':
      return database.get(request.argument)
    case 'search':
      return database.search(request.argument.text, request.argument.limit)
    case 'usage':
      return database.usage(request.argument)
    case 'usageTable':
      return database.usageTable(request.argument)
    case 'spent':
      return database.spentSince(request.argument)
    case 'patch':
      database.mark(request.argument.id, request.argument.change)
      return database.get(request.argument.id)
    case 'remove':
      database.transaction(() => database.clear(request.argument))
      return null
    case 'close':
      database.close()
      return null
    default:
      return never(request)
  }
}

async function note({ states, docs, requests, since }: IndexCalls['note'][0]): Promise<null> {
  const gaps = since
    .map(([id, before]) => ({ id, after: database.seqOf(id, sessionState.stateVersion), before }))
    .filter(({ after, before }) => after < before - 1)
  database.transaction(() => {
    database.putDocs(docs)
    database.putRequests(requests)
    for (const state of states) {
      database.putRow(rowOf(state))
      database.putState(state.id, sessionState.stateVersion, state)
    }
  })
  for (const gap of gaps) await fill(database, new Places(nodeDisk, root), gap)
  return null
}

async function refresh(id: string): Promise<null> {
  const places = new Places(nodeDisk, root)
  const directory = await places.find(id)
  if (!directory) {
    database.transaction(() => database.clear(id))
    return null
  }
  const { size, mtimeMs } = await nodeDisk.stat(`${directory}/log.jsonl`)
  await refreshFile(database, places, { id, directory, size, mtimeMs }, database.files().get(id))
  return null
}
