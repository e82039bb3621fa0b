/** Whether an address names this port of this machine. */
export function isLocal(baseURL: string, port: number): boolean {
  const { hostname, port: own, protocol } = new URL(baseURL)
  const actual = Number(own) || (protocol === 'https:' ? 443 : 80)
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) && actual === port
}
