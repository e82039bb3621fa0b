import { spawn } from 'node:child_process'

/** The terminal's settings belong to its device, so another process may read and set them by any descriptor of it. */
function stty(terminal: number, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = ''
    const child = spawn('/bin/stty', args, { env: {}, stdio: [terminal, 'pipe', 'ignore'] })
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
    child.once('error', () => resolve(undefined))
    child.once('close', (code) => resolve(code === 0 ? said : undefined))
  })
}

/** Whether the terminal shows what is typed; undefined when that cannot be told. Costs one start of a small program. */
export async function echoOf(terminal: number): Promise<boolean | undefined> {
  const said = await stty(terminal, ['-a'])
  return said === undefined ? undefined : /(^|[\s;])echo([\s;]|$)/m.test(said)
}

export async function setEcho(terminal: number, on: boolean): Promise<void> {
  await stty(terminal, [on ? 'echo' : '-echo'])
}
