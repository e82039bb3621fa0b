import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import websocket from '@fastify/websocket'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import {
  createJsonSchemaTransformObject,
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod'
import { z } from 'zod'
import { CoreError } from '../wire/errors.ts'
import type { GlobalState } from '../wire/views.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import type { LoginCodes } from './access.ts'
import { Commands, type CommandsOptions } from './commands.ts'
import { installErrors, sendError, sendRefusal } from './errors.ts'
import { Fence } from './fence.ts'
import { Hub } from './hub.ts'
import { installLogin } from './login.ts'
import { installPage } from './static.ts'
import { LIMITS, type Limits } from './limits.ts'
import type { PresetLibrary } from '../preset/library.ts'
import type { PresetHandlersOptions } from './preset-commands.ts'
import type { Providers } from '../settings/providers.ts'
import type { SessionSettings } from '../settings/session-settings.ts'
import { installRest, type RestOptions } from './rest.ts'
import { installSocket } from './socket.ts'

/** The longest prompt (400 000 characters) fits even when each needs six bytes of JSON. */
const FRAME_BYTES = 4 * 1024 * 1024
const BODY_BYTES = 1024 * 1024
const REQUEST_MS = 30_000
const CONNECTIONS = 1_024

export interface AppOptions {
  sessions: Sessions
  workspaces: Workspaces
  providers: Providers
  sessionSettings: SessionSettings
  policies: CommandsOptions['policies']
  asks: CommandsOptions['asks']
  shells: CommandsOptions['shells']
  global: () => GlobalState
  secrets: RestOptions['secrets']
  presetDocument: RestOptions['presetDocument']
  presetContents: RestOptions['presetContents']
  library: PresetLibrary
  /** The registry, for the default. */
  presets: PresetHandlersOptions['presets']
  /** Undefined only with `--no-auth`, which the flags allow on loopback alone. */
  token: string | undefined
  allowHosts: readonly string[]
  trustProxy: boolean
  /** Port-specific, and known only once the server listens. */
  cookieName: () => string
  /** Begins and ends with `/`. */
  basePath: string
  /** One-time codes that a printed link may carry. */
  codes: LoginCodes
  /** A fresh link for each address of the page. */
  links: () => string[]
  /** Where the server listens, as it stands in the proof that it holds the token. */
  place: () => string
  /** Folder of the built page. */
  webRoot: string
  version: string
  /** Live sessions of this process. */
  running?: () => number
  /** Others than the usual ones, for tests. */
  limits?: Partial<Limits>
  /** Hears of what failed unexpectedly; the client gets `gateway/internal` and the message only. */
  report?: (error: unknown) => void
}

export interface App {
  server: FastifyInstance
  hub: Hub
  /** Tells every tab that host-wide facts changed. */
  announce(part: Partial<GlobalState>): void
}

/** Wires the web server in order: fence, headers, documents, socket, page. It does not listen yet. */
export async function createApp(options: AppOptions): Promise<App> {
  const fence = new Fence(options)
  const { report = (error) => console.error('request failed:', error) } = options
  const hub = new Hub(
    (session) => options.sessions.view(session),
    (session, looks) => options.asks.attend(session, looks),
  )
  const commands = new Commands(options)
  const server = fastify({
    bodyLimit: BODY_BYTES,
    // A request that trickles in holds a connection no longer than this.
    requestTimeout: REQUEST_MS,
    forceCloseConnections: true,
    // One hop: what stands further left in the forwarded headers is the client's own claim.
    trustProxy: options.trustProxy ? (_address, hop) => hop < 1 : false,
    // The longest session id fits.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    frameworkErrors: (error, _request, reply) => void sendError(reply as unknown as FastifyReply, error),
  })
  server.server.maxConnections = CONNECTIONS
  installErrors(server, report)
  // Before the fence: a refusal carries the policy too.
  await server.register(helmet, HELMET)
  server.addHook('onRequest', async (request, reply) => guard(fence, options.basePath, request, reply))
  // An upgrade that got an answer instead of a socket leaves its connection to us: nobody else ends it, and it would leak.
  server.addHook('onResponse', async (request) => {
    if (request.headers.upgrade !== undefined) request.raw.socket.destroySoon()
  })
  server.setValidatorCompiler(validatorCompiler)
  server.setSerializerCompiler(serializerCompiler)
  await server.register(cookie)
  await server.register(rateLimit, { global: false })
  await server.register(websocket, { options: { maxPayload: FRAME_BYTES, handleProtocols: () => 'core-web' } })
  await server.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'core-web', version: options.version } },
    transform: jsonSchemaTransform,
    transformObject: createJsonSchemaTransformObject({ schemaRegistry: z.globalRegistry }),
  })
  await server.register(
    async (scope) => {
      installErrors(scope, report)
      installLogin(scope, fence, options)
      installRest(scope, options)
      scope.get('/api/openapi.json', { schema: { hide: true } }, () => server.swagger())
      installSocket(scope, { hub, commands, report, limits: { ...LIMITS, ...options.limits } })
      await installPage(scope, { root: options.webRoot, basePath: options.basePath })
    },
    { prefix: options.basePath.replace(/\/$/, '') },
  )
  if (options.basePath !== '/')
    server.setNotFoundHandler((request, reply) => {
      const error = new CoreError(
        'gateway/not-found',
        `This server lives at ${options.basePath}, not at ${request.url}.`,
      )
      return sendError(reply, error)
    })
  const closeFeed = options.sessions.feeds.add(hub)
  server.addHook('onClose', () => {
    closeFeed()
    hub.close()
  })
  return { server, hub, announce: (part) => hub.global(part) }
}

const HELMET = {
  hsts: false,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:', 'blob:'],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      workerSrc: ["'self'"],
      manifestSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' as const },
  crossOriginOpenerPolicy: { policy: 'same-origin' as const },
  crossOriginResourcePolicy: { policy: 'same-origin' as const },
}

async function guard(fence: Fence, basePath: string, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  // The route that answers, not the address as it was spelled: the router decodes what it matches. Only the page's own
  // files are found by spelling.
  const route = request.routeOptions.url
  const path = route === undefined || route.endsWith('*') ? request.url.split('?')[0]! : route
  const refusal = fence.check({
    method: request.method,
    path: path.startsWith(basePath) ? path.slice(basePath.length - 1) : path,
    headers: request.headers,
    upgrade: request.headers.upgrade !== undefined,
  })
  if (refusal) return sendRefusal(request, reply, refusal)
  if (request.method === 'POST' && !/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    return reply
      .code(415)
      .send({ error: { code: 'gateway/bad-request', message: 'POST bodies must be application/json.' } })
  return undefined
}
