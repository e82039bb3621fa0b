import { join } from 'node:path'
import { Credentials } from './credential/credentials.ts'
import { cookieValue, storedToken } from './http/access.ts'
import type { SecretSource } from './redact/redact.ts'

/** Variables whose values are taken for secrets; a provider may name any other one, which is then known by its use. */
const SECRET_NAME = /token|secret|key|pass|auth|credential|dsn/i

/** What no log of this host may show: token and cookie, stored keys, and what the environment holds under a telling name. */
export function hostSecrets(dataDir: string, env: NodeJS.ProcessEnv): SecretSource {
  const stored = new Credentials({ path: join(dataDir, 'credentials.json') })
  const given = Object.entries(env).flatMap(([name, value]) => (value && SECRET_NAME.test(name) ? [value] : []))
  return () => {
    const token = env['CORE_WEB_TOKEN'] ?? storedToken(dataDir)
    return [...given, ...(token === undefined ? [] : [token, cookieValue(token)]), ...stored.secrets()]
  }
}
