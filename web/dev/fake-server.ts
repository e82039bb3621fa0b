import { createServer } from 'node:http'
import { readFileSync, existsSync, statSync } from 'node:fs'
import { join, extname } from 'node:path'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { sessionState } from '../../server/projection/session-state.ts'
import type { Draft, Header, LogEvent } from '../../server/wire/events.ts'
import type { SessionRow } from '../../server/wire/views.ts'
import { draft } from '../../server/wire/events.ts'

// Development only: speaks the protocol with canned data, so that screens can be looked at without a server.
const root = join(import.meta.dirname, '../../dist/web')
const now = Date.now()
const MIN = 60_000
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const empty = process.argv.includes('--empty')

const row = (id: string, title: string, cwd: string, minutes: number, extra: Partial<SessionRow> = {}): SessionRow => ({
  id,
  title,
  cwd: `/home/ada/code/${cwd}`,
  preset: 'minimal',
  provider: 'deepseek',
  model: 'deepseek-v4-flash',
  created: now - minutes * MIN,
  updated: now - minutes * MIN,
  turns: 2,
  status: 'idle',
  pinned: false,
  archived: false,
  ...extra,
})
const rows = [
  row('s1', 'Fix the split remainder', 'tally', 0, { status: 'running' }),
  row('s2', 'Drop Python 3.9', 'tally', 12, { status: 'needs-you' }),
  row('s3', 'Type the ledger', 'tally', 40, { status: 'failed' }),
  row('s4', 'Why is parse_amount slow?', 'tally', 1500),
  row('s5', 'Rewrite the rounding guide', 'tally-docs', 2900),
  row('s6', 'Check code samples run', 'tally-docs', 7300),
  row('s7', 'Replay 40 recorded traces', 'eval-harness', 11, { status: 'running' }),
  row('s8', 'Compare minimal G2 / G3', 'eval-harness', 4400),
  row('big', 'Two thousand steps', 'eval-harness', 9000),
  row('s9', 'Seed the flaky-test set', 'eval-harness', 11600, { pinned: true }),
]
const tool = (name: string) => ({ name, description: `The ${name} tool.\nMore.`, parameters: {} })
const preset = (id: string, generation: number, description: string, tools: string[], tokens?: number, extra = {}) => ({
  id,
  description,
  generation,
  isDefault: id === 'minimal',
  tools: tools.map(tool),
  prompt: `You are an agent called ${id}.\n\nBe brief.\nUse tools: ${tools.join(', ')}.`,
  ...(tokens && { tokens }),
  ...extra,
})
const model = (id: string, contextWindow: number, price?: { in: number; out: number }) => ({
  id,
  name: id,
  contextWindow,
  inputs: ['text' as const],
  reasoning: true,
  efforts: [{ id: 'low' }, { id: 'medium', default: true }, { id: 'high' }],
  ...(price && { price }),
})
const global = {
  host: {
    version: '0.1.0',
    protocol: 1,
    node: 'v24.22.3',
    platform: 'linux x64',
    dataDir: '/home/ada/.core-web',
    home: '/home/ada',
    confinement: 'not-confined',
    problems: [] as object[],
  },
  workspaces: empty
    ? []
    : ['tally', 'tally-docs', 'eval-harness'].map((name, index) => ({
        id: `w${index}`,
        path: `/home/ada/code/${name}`,
        name,
        addedAt: now - 9e8 + index,
      })),
  presets: [
    preset(
      'minimal',
      3,
      'A persistent shell and one file editor. Nothing else is in the prompt.',
      ['bash', 'str_replace_editor'],
      1214,
    ),
    preset(
      'standard',
      7,
      'Full coding agent: files, shell, search, plan, todo, sub-agents.',
      ['bash', 'read', 'edit', 'grep', 'glob', 'write', 'todo_write', 'task', 'fetch', 'plan', 'ask'],
      9842,
    ),
    preset(
      'review',
      2,
      'Read-only. Reads, searches and comments; cannot write or run.',
      ['read', 'grep', 'glob', 'git_log'],
      3106,
    ),
    preset('research', 4, 'Web search and page reading on top of standard.', [], 11400, {
      broken: 'Waits for the MCP server browser: no answer on stdio for 14 s. Selectable as soon as it answers.',
      waiting: true,
    }),
    preset('data-lab', 0, 'Notebook kernel and table viewer.', [], undefined, {
      broken: 'Row tool-notebook names no known plugin. data-lab.yml:14',
    }),
  ],
  models: {
    providers: [
      {
        id: 'deepseek',
        label: 'DeepSeek',
        wire: 'chat',
        baseURL: 'https://api.deepseek.com/v1',
        key: 'stored',
        own: false,
        models: [model('deepseek-v4-flash', 128_000), model('deepseek-v4-pro', 128_000, { in: 0.55, out: 2.19 })],
      },
      {
        id: 'lab',
        label: 'lab-vllm',
        wire: 'chat',
        baseURL: 'http://10.0.4.12:8000/v1',
        key: 'stored',
        own: true,
        models: [model('glm-4.6', 64_000)],
        problem: '401 the key was refused at 14:22',
      },
      {
        id: 'anthropic',
        label: 'Anthropic',
        wire: 'messages',
        baseURL: 'https://api.anthropic.com',
        key: 'missing',
        own: false,
        models: [model('claude', 200_000)],
      },
      {
        id: 'demo',
        label: 'Demo',
        wire: 'demo',
        key: 'none-needed',
        own: false,
        models: [{ ...model('demo', 32_000), efforts: [] }],
      },
    ],
    default: { provider: 'deepseek', model: 'deepseek-v4-flash' },
  },
}

class Log {
  events: LogEvent[] = []
  time = now - 3 * MIN
  add<T extends LogEvent['type']>(type: T, data: Draft<T>['data'], ms = 400) {
    this.time += ms
    this.events.push({ ...draft(type, data as never), seq: this.events.length, time: this.time } as unknown as LogEvent)
  }
  user(turn: number, text: string) {
    this.add('user/message', {
      turn,
      message: {
        id: `m${this.events.length}`,
        role: 'user',
        content: [{ type: 'text', text }],
        source: { kind: 'user' },
      },
    })
  }
  assistant(turn: number, step: number, content: object[]) {
    this.add(
      'assistant/message',
      {
        turn,
        step,
        message: {
          id: `m${this.events.length}`,
          role: 'assistant',
          content: content as never,
          source: { kind: 'model', provider: 'deepseek', model: 'deepseek-v4-flash' },
        },
        stream: [{ i: 0, k: 'reasoning', at: 0, l: [1, 2], d: [6000] }],
        usage: { inputTokens: 2200, cacheReadTokens: 30_000, outputTokens: 1200 },
      },
      6000,
    )
  }
  tool(
    turn: number,
    step: number,
    id: string,
    name: string,
    args: object,
    result?: { text: string; meta?: object; isError?: boolean },
    ms = 1400,
  ) {
    this.add('tool/call', { turn, step, callId: id, name, arguments: JSON.stringify(args) })
    if (result)
      this.add(
        'tool/result',
        {
          turn,
          step,
          ms,
          message: {
            id: `r${id}`,
            role: 'user',
            content: [
              {
                type: 'tool-result',
                toolCallId: id,
                content: [{ type: 'text', text: result.text }],
                ...(result.isError && { isError: true }),
              },
            ],
            source: { kind: 'tool', callId: id },
          },
          ...(result.meta && { meta: result.meta as never }),
          ...(result.isError && { error: { code: 'FS_NOT_FOUND' } }),
        },
        ms,
      )
  }
}
const call = (id: string, name: string, args: object) => ({
  type: 'tool-call',
  id,
  name,
  arguments: JSON.stringify(args),
})
const header = (id: string): Header => ({
  type: 'session',
  version: 1,
  id,
  createdAt: now - 3 * MIN,
  cwd: '/home/ada/code/tally',
  isSeeded: false,
  agentPreset: 'minimal',
  writer: 'fake',
})
const E = '\u001b'

function head(log: Log, turn: number) {
  log.add('turn/start', { turn })
  if (turn === 1)
    log.add('request/header', {
      turn,
      step: 1,
      header: { config: { provider: 'deepseek', model: 'deepseek-v4-flash', reasoningEffort: 'high' } },
      compositionDigest: 'x',
      reason: 'initial',
    })
  if (turn === 1)
    log.add('request/context', { provider: 'deepseek', model: 'deepseek-v4-flash', contextWindow: 128_000 })
}
function story(): LogEvent[] {
  const log = new Log()
  head(log, 1)
  log.user(1, 'What does tally/split.py do, and is it tested?')
  const view = { command: 'view', path: '/home/ada/code/tally/tally/split.py' }
  log.assistant(1, 1, [
    { type: 'reasoning', text: 'I should look at the file first.' },
    call('c0', 'str_replace_editor', view),
  ])
  log.tool(
    1,
    1,
    'c0',
    'str_replace_editor',
    view,
    {
      text: '/home/ada/code/tally/tally/split.py (3 lines)\n     1  def split(total, n):\n     2      share = total / n\n     3      return [share] * n',
      meta: { kind: 'view', path: view.path, from: 1, to: 3, total: 3 },
    },
    60,
  )
  log.assistant(1, 2, [
    {
      type: 'text',
      text: 'It splits an amount into **n equal shares**.\n\n| case | tested |\n|---|---|\n| even split | yes |\n| remainder | no |\n\n1. `split` divides and rounds down\n2. the *remainder* is lost\n\n```python\ndef split(total: Decimal, n: int):\n    # every share is rounded down\n    share = (total / n).quantize(CENT, ROUND_DOWN)\n    return [share] * n\n```\n\nSee [the guide](https://example.org) for the rounding rules.',
    },
  ])
  log.add('turn/end', { turn: 1, reason: { kind: 'completed' } })
  log.add('model/selection', { provider: 'deepseek', model: 'deepseek-v4-flash', reasoningEffort: 'high' })
  head(log, 2)
  log.user(2, 'test_split_keeps_remainder fails since the move to Decimal. Fix it, keep the public API.')
  const run = { command: 'pytest -q tests/test_split.py' }
  log.assistant(2, 1, [{ type: 'reasoning', text: 'Run the failing test.' }, call('c1', 'bash', run)])
  log.tool(2, 1, 'c1', 'bash', run, {
    text: `....${E}[31mF${E}[0m..                                                        [100%]\n${E}[31mE   AssertionError: assert Decimal('99.99') == Decimal('100.00')${E}[0m\nE    +  where Decimal('99.99') = sum([Decimal('33.33'), Decimal('33.33'), Decimal('33.33')])\n${E}[31mFAILED${E}[0m tests/test_split.py::${E}[1mtest_split_keeps_remainder${E}[0m ${E}[31m1 failed${E}[0m, 6 passed in 0.31s`,
    meta: { kind: 'completed', exitCode: 1 },
  })
  const edit = { command: 'str_replace', path: view.path, old_str: 'a', new_str: 'b' }
  log.assistant(2, 2, [call('c2', 'str_replace_editor', edit)])
  log.tool(
    2,
    2,
    'c2',
    'str_replace_editor',
    edit,
    {
      text: 'Edited.',
      meta: {
        kind: 'edit',
        path: view.path,
        added: 4,
        removed: 1,
        hunks: [
          {
            oldStart: 41,
            oldLines: 2,
            newStart: 41,
            newLines: 5,
            lines: [
              '     share = (total / n).quantize(CENT, ROUND_DOWN)',
              '-    return [share] * n',
              '+    parts = [share] * n',
              '+    # hand out the cents that rounding down left over',
              '+    parts[0] += total - share * n',
              '+    return parts',
            ],
          },
        ],
      },
    },
    100,
  )
  log.add('todo/write', {
    todos: [
      { content: 'Find the cause', status: 'completed' },
      { content: 'Fix the split', status: 'completed' },
      { content: 'Repeat the suite 50 times', status: 'in_progress' },
      { content: 'Test negative totals', status: 'pending' },
    ],
  })
  log.add('agent/inbox/spliced', {
    target: 'next-turn',
    start: 0,
    inserted: ['Also run mypy on tally/ when you are done', 'Write the changelog line'].map((text, index) => ({
      id: `q${index}`,
      role: 'user',
      content: [{ type: 'text', text }],
      source: { kind: 'user' },
    })),
  })
  const many = { command: 'pytest -q -p no:cacheprovider --count 50' }
  log.time = Date.now() - 12_000
  log.assistant(2, 3, [call('c3', 'bash', many)])
  log.tool(2, 3, 'c3', 'bash', many)
  return log.events
}
function big(): LogEvent[] {
  const log = new Log()
  head(log, 1)
  log.user(1, 'Two thousand steps, please.')
  for (let step = 1; step <= 2000; step++) {
    const args = { command: `echo ${step}` }
    log.assistant(1, step, [
      { type: 'text', text: `Step **${step}**: a sentence with \`code\` in it.` },
      call(`b${step}`, 'bash', args),
    ])
    log.tool(1, step, `b${step}`, 'bash', args, { text: String(step), meta: { exitCode: step % 50 ? 0 : 1 } })
  }
  log.add('turn/end', {
    turn: 1,
    reason: {
      kind: 'error',
      error: {
        code: 'MODEL_PAYMENT_REQUIRED',
        message: 'The provider refused the request: no balance left.',
        status: 402,
        requestId: '8c1f',
      },
    },
  })
  return log.events
}
const logs: Record<string, LogEvent[]> = { s1: story(), big: big() }

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://x')
  const json = (value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (url.pathname === '/api/sessions') return json({ rows: empty ? [] : rows })
  if (url.pathname === '/api/login')
    return json(
      { error: { code: 'gateway/unauthorized', message: "Not this server's token. 4 tries left this minute." } },
      401,
    )
  if (url.pathname === '/api/search')
    return json({
      hits: [
        {
          session: 's1',
          seq: 3,
          title: 'Fix the split remainder',
          snippet: '… the parts always add up to the total …',
        },
      ],
    })
  if (url.pathname.endsWith('/document'))
    return json({
      content:
        '# A preset\nname: minimal\nentries:\n  - plugin: tool-bash\n    config:\n      timeout: !!js 5 * 60_000\n',
    })
  const events = /^\/api\/sessions\/([^/]+)\/events$/.exec(url.pathname)
  if (events) {
    const all = logs[events[1]!] ?? []
    const before = Number(url.searchParams.get('before'))
    const page = all.slice(Math.max(0, before - 300), before)
    return json({ events: page, from: page[0]?.seq ?? -1, to: page.at(-1)?.seq ?? -1 })
  }
  const file = join(root, url.pathname)
  const found = existsSync(file) && statSync(file).isFile() ? file : join(root, 'index.html')
  let body: Buffer | string = readFileSync(found)
  if (found.endsWith('.html')) body = String(body).replace('<html', '<html data-base="/"').replaceAll('="./', '="/')
  response.writeHead(200, { 'content-type': TYPES[extname(found)] ?? 'application/octet-stream' }).end(body)
})

new WebSocketServer({ server, path: '/api/socket' }).on('connection', (socket: WebSocket) => {
  const say = (frame: object) => socket.send(JSON.stringify(frame))
  say({ t: 'hello', protocol: 1, pingMs: 15_000, ...global })
  const ping = setInterval(() => say({ t: 'ping' }), 15_000)
  socket.on('close', () => clearInterval(ping))
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data))
    if (frame.t === 'attach') return attach(say, frame.session)
    if (frame.t === 'command') command(say, frame)
  })
})

function attach(say: (frame: object) => void, session: string) {
  const all = logs[session]
  if (!all && session !== 's4')
    return say({
      t: 'attach-failed',
      session,
      error: { code: 'session/not-found', message: `There is no session ${session} here.` },
    })
  const events = all ?? []
  const page = events.slice(-300)
  let state = sessionState.init(header(session))
  for (const event of events) state = sessionState.apply(state, event)
  const readOnly =
    session === 's4'
      ? { code: 'agent-preset/not-found', message: 'The preset research is gone. Put it back to go on.' }
      : undefined
  say({
    t: 'snapshot',
    session,
    header: header(session),
    state,
    events: page,
    from: page[0]?.seq ?? -1,
    to: page.at(-1)?.seq ?? -1,
    writer: { kind: 'here' },
    ...(readOnly && { readOnly }),
  })
  if (session !== 's1') return
  say({
    t: 'tool-output',
    session,
    turn: 2,
    step: 3,
    callId: 'c3',
    offset: 0,
    text: `${E}[32m${'.'.repeat(72)}${E}[0m [ 83%]\n${E}[32m${'.'.repeat(29)}${E}[0m`,
  })
  say({
    t: 'delta',
    session,
    turn: 2,
    step: 4,
    attempt: 0,
    block: 0,
    kind: 'reasoning',
    offset: 0,
    text: 'A longer thought.\nsplits over a negative total round toward zero too, so the leftover keeps its sign and',
  })
  say({
    t: 'delta',
    session,
    turn: 2,
    step: 4,
    attempt: 0,
    block: 1,
    kind: 'text',
    offset: 0,
    text: 'The cause is `ROUND_DOWN`: each share loses up to a cent and nothing gave the difference back. The first share now takes it, so the parts always add up to',
  })
}

function command(say: (frame: object) => void, frame: { id: string; name: string; args: Record<string, unknown> }) {
  const ack = (result: object) => say({ t: 'ack', id: frame.id, name: frame.name, result })
  switch (frame.name) {
    case 'workspace.browse':
      return ack({
        path: frame.args['path'] ?? '/home/ada',
        parent: '/home',
        folders: ['code', 'notes', 'papers'].map((name) => ({ name, path: `/home/ada/${name}` })),
      })
    case 'model.select':
      return ack({ default: { saved: true } })
    case 'provider.test':
      return ack({
        ok: true,
        message: 'Works: two models answer.',
        asked: { method: 'GET', url: 'https://api.deepseek.com/v1/models' },
        answered: { status: 200, ms: 184, text: 'OK', models: ['deepseek-v4-flash', 'deepseek-v4-pro'] },
      })
    case 'session.delete':
      return ack({ session: frame.args['session'] as string })
    case 'session.restore':
      return ack({
        session: frame.args['session'] as string,
        row: rows.find((each) => each.id === frame.args['session']),
      })
    case 'burst':
      return
    case 'session.prompt':
      if (frame.args['session'] !== 'big') return ack({ message: 'x' })
      ack({ message: 'x' })
      for (let index = 0; index < 20_000; index++)
        say({
          t: 'delta',
          session: 'big',
          turn: 2,
          step: 1,
          attempt: 0,
          block: 0,
          kind: 'text',
          offset: index * 6,
          text: index % 40 === 39 ? 'end.\n\n' : 'word, ',
        })
      return
    default:
      return say({
        t: 'error',
        id: frame.id,
        error: {
          code: 'session/agent-busy',
          message: 'The session runs a turn. Stop it first, or wait until it ends.',
        },
      })
  }
}

server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => console.log(JSON.stringify(server.address())))
