/** Settles with `work`, or rejects with the signal's reason as soon as it fires; what `work` answers later is dropped. */
export async function abortable<T>(signal: AbortSignal, work: T | Promise<T>): Promise<T> {
  if (!(work instanceof Promise)) {
    signal.throwIfAborted()
    return work
  }
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([aborted.promise, work])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
