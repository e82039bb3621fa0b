import type { Redactor } from './redact.ts'

/** From now on nothing leaves by this stream unredacted. Answers what ends that. */
export function guardStream(stream: Pick<NodeJS.WriteStream, 'write'>, redactor: Redactor): () => void {
  const write = stream.write
  const guarded = (chunk: string | Uint8Array, ...rest: unknown[]): boolean =>
    (write as (...args: unknown[]) => boolean).call(stream, clean(chunk, redactor), ...rest)
  stream.write = guarded
  return () => (stream.write = write)
}

function clean(chunk: string | Uint8Array, redactor: Redactor): string | Uint8Array {
  if (typeof chunk === 'string') return redactor.text(chunk)
  // One character per byte: what is no text keeps its bytes.
  return Buffer.from(redactor.text(Buffer.from(chunk).toString('latin1')), 'latin1')
}

/**
 * The process's own ways around `process.stderr`: warnings and the last words of a crash are written past the stream, so they
 * are told here instead.
 */
export function guardProcess(redactor: Redactor): void {
  guardStream(process.stderr, redactor)
  if (process.listenerCount('warning') > 0) {
    process.removeAllListeners('warning')
    process.on('warning', ({ name, message, stack }) =>
      console.error(`(node:${process.pid}) ${process.traceDeprecation && stack ? stack : `${name}: ${message}`}`),
    )
  }
  process.on('uncaughtException', (error) => {
    console.error('uncaught exception:', error)
    process.exit(1)
  })
}
